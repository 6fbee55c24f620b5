// A function behind a virtual call: code that takes one is compiled once, whatever it calls, and is constexpr all the
// same.
#pragma once

namespace attest::reference {

template <class Signature>
class any_function;

template <class Result, class... Argument>
class any_function<Result(Argument...)> {
 public:
  constexpr virtual Result operator()(Argument... argument) const = 0;

 protected:
  constexpr any_function() = default;
  constexpr ~any_function() = default;
};

/// f as any_function. Requires f to outlive it
template <class Signature, class F>
class calls;

template <class Result, class... Argument, class F>
class calls<Result(Argument...), F> final : public any_function<Result(Argument...)> {
 public:
  constexpr explicit calls(F const& f) : f_(f) {}
  constexpr Result operator()(Argument... argument) const override { return f_(argument...); }

 private:
  F const& f_;
};

}  // namespace attest::reference

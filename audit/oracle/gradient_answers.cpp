#include "audit/oracle/gradient_answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/default_contract.hpp"
#include "audit/files/file_tensor.hpp"
#include "audit/oracle/gradient_oracle.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/real/decimal.hpp"
#include "reference/real/nearest.hpp"

namespace attest::audit {

std::vector<gradient_list> gradient_lists(owned_problem const& problem) {
  std::vector<gradient_list> lists;
  if (!problem.draft().d_out) return lists;
  for (output_kind const kind : output_kinds) {
    auto form = problem::is_gradient(kind) ? zero_gradient(problem, kind) : std::nullopt;
    if (!form) continue;
    gradient_list& list = lists.emplace_back(gradient_list{kind, *std::move(form)});
    gradient_places const places(problem, kind);
    auto const& [b_size, h_size, rows, columns] = places.shape();
    auto const which =
        static_cast<reference::gradient>(static_cast<std::size_t>(kind) - static_cast<std::size_t>(output_kind::dq));
    auto const used = [&](std::int64_t b) {
      return kind == output_kind::dq                              ? queries_of(problem, b)
             : kind == output_kind::dk || kind == output_kind::dv ? keys_of(problem, b)
                                                                  : rows;
    };
    for (std::int64_t b = 0; b < b_size; ++b)
      for (std::int64_t h = 0; h < h_size; ++h)
        for (std::int64_t i = 0; i < used(b); ++i)
          for (std::int64_t x = 0; x < columns; ++x)
            list.places.push_back({{which, b, h, i, x}, places.row(b, h, i) + static_cast<std::size_t>(x)});
  }
  return lists;
}

namespace answers {
namespace {

using reference::value_kind;

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();

/// A gradient as its file has it.
owned_tensor in_file_order(problem_file_entry const& from, output_kind kind, owned_tensor tensor) {
  problem_draft const& draft = from.problem.draft();
  bool const of_keys = kind == output_kind::dk || kind == output_kind::dv;
  if (!of_keys && kind != output_kind::dq) return tensor;
  bool const packed = (of_keys ? draft.k_offsets : draft.q_offsets).has_value();
  if (packed) return from.order == axis_order::thd ? compacted(as_thd(std::move(tensor))) : tensor;
  return compacted(to_order(from.order, std::move(tensor)));
}

owned_tensor as_type(gradient_list const& list, problem::element_type type) {
  return owned_tensor::zeros(type, list.form.layout);
}

/// Elements of one gradient, at growing widths until each is decided.
template <class T>
class rounding {
 public:
  rounding(gradient_oracle<T> const& oracle, gradient_list const& list,
           std::vector<reference::gradient_element> const& known)
      : oracle_(oracle), list_(list), known_(known) {}

  template <class E>
  owned_tensor to(reference::machine::rounding_tally& tally) {
    owned_tensor rounded = as_type(list_, problem::type_of<E>);
    E* const out = rounded.template as<E>();
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < known_.size(); ++at) {
      auto const& truth = known_[at];
      if (truth.kind == value_kind::finite) ++tally.elements;
      if (truth.kind != value_kind::finite) out[offset(at)] = reference::quiet_nan<E>();
      else if (auto const ordinal = reference::nearest_ordinal<E>(truth.lower);
               ordinal == reference::nearest_ordinal<E>(truth.upper) && std::isfinite(truth.lower))
        out[offset(at)] = reference::value_of_ordinal<E>(ordinal);
      else open.push_back(at);
    }
    tally.in_balls += std::ssize(open);
    at_width<E, 128>(open, out), at_width<E, 256>(open, out), at_width<E, 1152>(open, out);
    for (std::size_t const at : open) out[offset(at)] = reference::quiet_nan<E>();
    tally.undecided += std::ssize(open);
    return rounded;
  }

 private:
  std::size_t offset(std::size_t at) const { return list_.places[at].offset; }

  template <class E, unsigned W>
  void at_width(std::vector<std::size_t>& open, E* out) {
    if (open.empty()) return;
    std::vector<reference::gradient_index> wanted;
    for (std::size_t const at : open) wanted.push_back(list_.places[at].at);
    auto const enclosed = oracle_.template enclose<W>(wanted);
    std::vector<std::size_t> still;
    for (std::size_t n = 0; n < open.size(); ++n) {
      if (enclosed[n].kind != value_kind::finite) {
        out[offset(open[n])] = reference::quiet_nan<E>();
        continue;
      }
      auto const& ball = enclosed[n].value;
      auto const low = reference::nearest_ordinal<E>(reference::lower(ball)),
                 high = reference::nearest_ordinal<E>(reference::upper(ball));
      std::optional<E> rounded;
      if (low == high) rounded = reference::value_of_ordinal<E>(low);
      else
        rounded = reference::nearest<E>(ball, [&](reference::element const&) -> std::optional<int> {
          return ball.is_exact() ? std::optional(0) : std::nullopt;
        });
      if (rounded) out[offset(open[n])] = *rounded;
      else still.push_back(open[n]);
    }
    open = std::move(still);
  }

  gradient_oracle<T> const& oracle_;
  gradient_list const& list_;
  std::vector<reference::gradient_element> const& known_;
};

double bound_of(reference::gradient_element const& truth) {
  switch (truth.kind) {
    case value_kind::finite: return truth.no_terms ? 0 : truth.bound;
    case value_kind::nan: return 0;
    case value_kind::not_finite: return quiet;  // any value that is not finite
    default: return reference::infinity;
  }
}

}  // namespace

reference::machine::rounding_tally add_rounded_gradients(problem_file_entry const& from, owned_problem const& problem,
                                                         std::optional<problem::element_type> round,
                                                         contract const* claim, tensors& into) {
  reference::machine::rounding_tally tally;
  auto const lists = gradient_lists(problem);
  if (lists.empty()) return tally;
  contract const under = contract_of(claim, problem);
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        gradient_oracle<T> const oracle(problem, p, from.outputs, under);
        auto const known = oracle.elements(lists);
        for (std::size_t n = 0; n < lists.size(); ++n) {
          gradient_list const& list = lists[n];
          std::string const name = from.name_of(name_of(list.kind));
          problem::with_type(
              round.value_or(list.form.type), problem::floating_elements{}, [&]<class E>(std::type_identity<E>) {
                into.add(name,
                         in_file_order(from, list.kind, rounding<T>(oracle, list, known[n]).template to<E>(tally)));
              });
          if (!claim) continue;
          owned_tensor bounds = as_type(list, problem::element_type::f64);
          std::fill_n(bounds.as<double>(), bounds.spanned_elements(), reference::infinity);
          for (std::size_t at = 0; at < list.places.size(); ++at)
            bounds.as<double>()[list.places[at].offset] = bound_of(known[n][at]);
          into.add(name + ".bound", in_file_order(from, list.kind, std::move(bounds)));
        }
      },
      problem.instance());
  return tally;
}

void add_enclosed_gradients(problem_file_entry const& from, tensors& into) {
  auto const lists = gradient_lists(from.problem);
  if (lists.empty()) return;
  contract const claim = default_contract(from.problem.type());
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        gradient_oracle<T> const oracle(from.problem, p, {}, claim);
        for (gradient_list const& list : lists) {
          owned_tensor low = as_type(list, problem::element_type::f64), high = low;
          std::vector<reference::gradient_index> wanted;
          for (auto const& place : list.places) wanted.push_back(place.at);
          auto const enclosed = oracle.template enclose<128>(wanted);
          for (std::size_t at = 0; at < enclosed.size(); ++at) {
            bool const finite = enclosed[at].kind == value_kind::finite;
            low.as<double>()[list.places[at].offset] = finite ? reference::lower(enclosed[at].value) : quiet;
            high.as<double>()[list.places[at].offset] = finite ? reference::upper(enclosed[at].value) : quiet;
          }
          std::string const name = from.name_of(name_of(list.kind));
          into.add(name + ".lower", in_file_order(from, list.kind, std::move(low)));
          into.add(name + ".upper", in_file_order(from, list.kind, std::move(high)));
        }
      },
      from.problem.instance());
}

std::string gradient_digits(problem_file_entry const& from, int digits, std::int64_t& undecided) {
  std::string text;
  contract const claim = default_contract(from.problem.type());
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        for (gradient_list const& list : gradient_lists(from.problem)) {
          gradient_oracle<T> const oracle(from.problem, p, {}, claim);
          std::vector<std::string> written(list.form.spanned_elements(), "-");
          for (auto const& place : list.places) written[place.offset].clear();
          auto const at_width = [&]<unsigned W>(std::integral_constant<unsigned, W>) {
            std::vector<reference::gradient_index> wanted;
            std::vector<std::size_t> offsets;
            for (auto const& [at, offset] : list.places)
              if (written[offset].empty()) wanted.push_back(at), offsets.push_back(offset);
            if (wanted.empty() || digits > static_cast<int>(W) * 3 / 10 - 8) return;
            auto const enclosed = oracle.template enclose<W>(wanted);
            for (std::size_t n = 0; n < enclosed.size(); ++n) {
              if (enclosed[n].kind != value_kind::finite) written[offsets[n]] = "nan";
              else if (auto const printed = reference::to_decimal(enclosed[n].value, digits))
                written[offsets[n]] = *printed;
            }
          };
          at_width(std::integral_constant<unsigned, 128>{});
          at_width(std::integral_constant<unsigned, 256>{});
          at_width(std::integral_constant<unsigned, 1152>{});
          auto const& [rank, shape, stride] = list.form.layout;
          for (std::size_t at = 0; at < written.size(); ++at) {
            std::vector<std::int64_t> index(static_cast<std::size_t>(rank));
            auto rest = static_cast<std::int64_t>(at);
            for (std::size_t axis = index.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
            if (written[at].empty()) written[at] = "undecided", ++undecided;
            text += fmt::format("{}[{}] {}\n", from.name_of(name_of(list.kind)), fmt::join(index, ", "), written[at]);
          }
        }
      },
      from.problem.instance());
  return text;
}

std::int64_t count_of_gradients(owned_problem const& problem) {
  std::int64_t count = 0;
  for (gradient_list const& list : gradient_lists(problem)) count += std::ssize(list.places);
  return count;
}

}  // namespace answers
}  // namespace attest::audit

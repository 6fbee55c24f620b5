// Contracts as JSON, field by field as contract_fields.hpp lists them.
#include <nlohmann/json.hpp>

#include "audit/contract/contract_fields.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// Writes every field of a struct into an object.
class field_writer {
 public:
  explicit field_writer(json& into) : into_(into) {}
  void number(char const* name, double& field, range const&) { into_[name] = hex(field); }
  void count(char const* name, std::int64_t& field, range const&) { into_[name] = field; }
  void flag(char const* name, bool& field) { into_[name] = field; }
  void word(char const* name, std::span<char const* const> words, std::size_t& at) { into_[name] = words[at]; }
  template <class Fields>
  void optional(Fields&& fields) {
    fields(*this);
  }
  template <class Fields>
  void object(char const* name, Fields&& fields) {
    field_writer inside(into_[name] = json::object());
    fields(inside);
  }

 private:
  json& into_;
};

}  // namespace

std::string contract_text(contract const& written, int indent) {
  json object;
  contract copy = written;  // visitors take fields by reference
  object["name"] = written.name, object["sentence"] = written.sentence;
  object["input"] = problem::name_of(written.type), object["output"] = problem::name_of(written.type);
  if (written.builtin) object["model"] = "builtin";
  else {
    field_writer model(object["model"] = json::object());
    visit_model(copy.fixed, model);
  }
  field_writer gradient(object["gradient"] = json::object());
  visit_gradient(copy.gradient, gradient);
  field_writer conventions(object["conventions"] = json::object());
  visit_conventions(copy.conventions, conventions);
  return object.dump(indent, ' ', false, json::error_handler_t::replace);
}

}  // namespace attest::audit

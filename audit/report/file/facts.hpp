// Every fact of a report, once for both directions: a shard writes them, `attest merge` reads them (shard_file.hpp).
//
// A fact is something that nothing else in the report says. What follows from other facts (the verdict, sums over
// checks, which findings are waived) is no fact: read_shard derives it. Only `verify` has `recorded`, and it has no
// shards.
//
// An archive (fact_archive.hpp) is called with the name of a fact, the fact, and its limit if that is narrower than its
// type. `text` takes a fact that is written as text, and the two functions that write and read it; the latter returns
// what is wrong. `require` takes a condition that must hold so that a page can be drawn without looking again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "audit/cases/domain/size_word.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/report/file/fact_archive.hpp"
#include "audit/report/file/fact_texts.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

template <class Archive>
void visit(Archive& facts, problem::sizes& of) {
  facts("b", of.b), facts("hq", of.hq), facts("hk", of.hk), facts("n", of.n), facts("m", of.m), facts("d", of.d),
      facts("dv", of.dv);
}

template <class Archive>
void visit(Archive& facts, kernel_build& of) {
  facts("sha256", of.sha256), facts("symbol", of.symbol), facts("version", of.version);
  facts("instructions", of.instructions), facts("claim", of.claim);
}

template <class Archive>
void visit(Archive& facts, omission& of) {
  facts("what", of.what), facts("why", of.why);
}

template <class Archive>
void visit(Archive& facts, observation& of) {
  facts("sentence", of.sentence), facts("kind", of.kind), facts("number", of.number);
}

template <class Archive>
void visit(Archive& facts, curve_point& of) {
  facts("axis", of.axis), facts("place", of.place), facts("error_in_bounds", of.error_in_bounds, not_negative{});
  facts("failed", of.failed), facts("number", of.number);
}

template <class Archive>
void visit(Archive& facts, asked_domain& of) {
  facts("text", of.text), facts("strict_refusals", of.strict_refusals), facts("cut_short", of.cut_short);
  facts.text(
      "source", [&] { return std::string(domain_origin_names[static_cast<std::size_t>(of.from)]); },
      [&](std::string const& name) {
        auto const at = std::ranges::find(domain_origin_names, name);
        if (at == std::end(domain_origin_names)) return "is none of nobody, found, declared";
        of.from = static_cast<domain_origin>(at - std::begin(domain_origin_names));
        return "";
      });
}

// Judgements.

template <class Archive>
void visit(Archive& facts, outside_share& of) {
  facts("judged", of.judged), facts("outside", of.outside);
}

template <class Archive>
void visit(Archive& facts, sharpness& of) {
  facts("dull", of.dull), facts("ratios", of.ratios);
  of.judged = std::accumulate(of.ratios.begin(), of.ratios.end(), std::int64_t{0});
}

template <class Archive>
void visit(Archive& facts, systematic_error& of) {
  facts("rows", of.rows), facts("elements", of.elements), facts("calls", of.calls.count);
  facts("means", of.calls.means, of_either_sign), facts("squares", of.calls.squares);
}

template <class Archive>
void visit(Archive& facts, preset_comparison& of) {
  facts("preset", of.preset), facts("compared", of.compared), facts("outside", of.outside);
  facts("worst_in_bounds", of.worst, not_negative{});
}

template <class Archive>
void visit(Archive& facts, judgement& of) {
  facts("by_theorem", of.by_theorem), facts("by_dominance", of.by_dominance), facts("by_rule", of.by_rule);
  facts("failed", of.failed), facts("undecided", of.undecided), facts("suspicious", of.suspicious);
  facts("not_certified", of.not_certified), facts("left_out", of.left_out), facts("shares", of.shares);
  facts("exist", of.exist), facts("returned", of.returned);
  facts("max_error_in_bounds", of.max_error_in_bounds, not_negative{}), facts("max_ulp", of.max_ulp, not_negative{});
  facts("max_error", of.max_error, not_negative{});
  facts("sharpness", of.sharpness), facts("systematic", of.systematic), facts("beside", of.beside);
}

template <class Archive>
void visit(Archive& facts, check_result& of) {
  facts("name", of.name), facts("first_case", of.first_case), facts("seconds", of.seconds, not_negative{});
  facts("cases", of.cases), facts("failed", of.failed), facts("undecided", of.undecided);
  facts("unsupported", of.unsupported), facts("conventions", of.conventions), facts("sum", of.sum);
}

// Failing cases and findings.

/// A class by its token; "" for none.
template <class Archive>
void class_fact(Archive& facts, std::optional<bug_class>& of) {
  facts.text(
      "class", [&] { return std::string(of ? token_of(*of) : ""); },
      [&](std::string const& token) {
        of = bug_class_named(token);
        return of || token.empty() ? "" : "names no class of `attest list classes`";
      });
}

template <class Archive>
void visit(Archive& facts, judged_class& of) {
  std::optional<bug_class> is = of.is;
  class_fact(facts, is);
  facts.require(is.has_value(), "has no 'class'");
  of.is = *is;
  facts.text(
      "basis", [&] { return std::string(class_basis_names[static_cast<std::size_t>(of.basis)]); },
      [&](std::string const& name) {
        auto const at = std::ranges::find(class_basis_names, name);
        if (at == std::end(class_basis_names)) return "is none of seen, row, check";
        of.basis = static_cast<class_basis>(at - std::begin(class_basis_names));
        return "";
      });
}

template <class Archive>
void visit(Archive& facts, holding_preset& of) {
  facts("preset", of.name), facts("worst_in_bounds", of.worst, not_negative{});
}

template <class Archive>
void visit(Archive& facts, failing_case& of) {
  facts("check", of.check), facts("case", of.name), facts("number", of.number), facts("classes", of.classes);
  facts("inside", of.inside), facts("judged", of.judged);
}

template <class Archive>
void visit(Archive& facts, named_mistake& of) {
  facts("name", of.name), facts("sentence", of.sentence), facts("explains", of.explains);
  facts("tried_passing", of.tried_passing), facts("contradicted", of.contradicted), facts("accepted", of.accepted);
  class_fact(facts, of.bug_class);
}

template <class Archive>
void visit(Archive& facts, named_cause& of) {
  facts("mistakes", of.mistakes), facts("explains", of.explains), facts("of", of.of), facts("failed", of.failed);
  facts("open", of.open);
  facts("unexplained", of.unexplained), facts("condition", of.condition), facts("seconds", of.seconds, not_negative{});
}

template <class Archive>
void visit(Archive& facts, violation& of) {
  facts("output", of.output), facts("index", of.index), facts("got", of.got), facts("bound", of.bound);
  facts("truth_lower", of.truth_lower), facts("truth_upper", of.truth_upper);
  facts("error_in_bounds", of.error_in_bounds), facts("sentence", of.sentence);
  class_fact(facts, of.bug_class);
}

template <class Archive>
void visit(Archive& facts, matrix_picture& of) {
  facts("first_row", of.first_row), facts("first_column", of.first_column);
  facts("rows", of.rows, side_of_picture), facts("columns", of.columns, side_of_picture), facts("values", of.values);
  facts.require(of.rows * of.columns == std::ssize(of.values), "has another number of 'values' than of places");
  facts.require(of.values.size() <= 65536, "has more than 65536 'values', which is too large to draw");
}

template <class Archive>
void visit(Archive& facts, finding_pictures& of) {
  facts("batch", of.b), facts("head", of.h), facts("keys_only", of.keys_only), facts("expected", of.expected);
  facts.text(
      "masked", [&] { return marks_of(of.masked); },
      [&](std::string const& marks) { return read_marks(marks, of.masked); });
  facts("applied", of.applied), facts("applied_by", of.applied_by);
  facts("output", of.output), facts("errors", of.errors);
  facts.require(of.masked.size() == of.expected.values.size(),
                "has not a mark in 'masked' for every value of 'expected'");
  facts.require(!of.applied || (of.applied->rows == of.expected.rows && of.applied->columns == of.expected.columns),
                "has an 'applied' of another size than 'expected'");
}

template <class Archive>
void visit(Archive& facts, input_listing& of) {
  facts("name", of.name), facts("shape", of.shape, side_of_listing), facts("values", of.values);
  facts.require(fit(of.shape, of.values.size()), "has a 'shape' that does not fit its 'values'");
}

template <class Archive>
void visit(Archive& facts, shrunk_finding& of) {
  facts("what", of.what), facts("sizes", of.sizes), facts("file", of.file), facts("inputs", of.inputs);
  facts("whole", of.whole), facts("explain", of.explain), facts("parameters", of.parameters);
}

template <class Archive>
void visit(Archive& facts, finding& of) {
  facts("check", of.check), facts("case", of.case_name), facts("number", of.number), facts("what", of.what);
  facts("sizes", of.sizes), facts("reproducer", of.reproducer), facts("condition", of.condition);
  facts("shrunk", of.shrunk), facts("pictures", of.pictures), facts("no_pictures", of.no_pictures);
  facts("parameters", of.parameters), facts("judged", of.judged);
}

// Coverage.

template <class Archive>
void visit(Archive& facts, reply_count& of) {
  facts("asked", of.asked), facts("answered", of.answered);
}

template <class Archive>
void visit(Archive& facts, feature_support& of) {
  facts("any", of.any), facts("only", of.only);
}

template <class Archive>
void visit(Archive& facts, coverage& of) {
  facts("calls", of.calls), facts("plain", of.plain), facts("sizes", of.sizes), facts("lse", of.lse),
      facts("weights", of.weights);
  facts("elements_judged", of.elements_judged), facts("elements_existing", of.elements_existing);
  facts("gradients_judged", of.gradients_judged), facts("gradients_existing", of.gradients_existing);
  facts("gradients_sampled", of.gradients_sampled);
  facts("draws_answered", of.draws_answered), facts("maps", of.maps), facts("supports", of.supports);
  facts.text(
      "triples", [&] { return digits_of(of.triples); },
      [&](std::string const& digits) { return read_digits(digits, of.triples); });
  facts.require(std::ranges::all_of(of.sizes, [](auto const& size) { return size_word::of(size.first).has_value(); }),
                "has 'sizes' that are no sizes");
  coverage const empty;
  auto const same_size = [](auto const& a, auto const& b) { return a.size() == b.size(); };
  facts.require(std::ranges::equal(of.maps, empty.maps, same_size),
                "has 'maps' with another number of counts than there are classes");
}

/// All facts of the report of one kernel. Shards come from `audit`, so that the report has exactly one contract.
template <class Archive>
void visit(Archive& facts, report& of) {
  facts("kernel", of.kernel), facts("kernel_builds", of.kernel_builds);
  facts.text(
      "contract", [&] { return contract_text(of.contracts.front(), -1); },
      [&](std::string const& text) {
        auto claim = parse_contract(text, "");
        if (claim) of.contracts = {std::move(claim).value()};
        return claim ? std::string() : claim.why().message();
      });
  facts("theorem_revision", of.theorem_revision), facts("conventions", of.relaxed);
  facts("seed", of.seed), facts("replayed", of.replayed), facts("options", of.options), facts("domain", of.domain);
  facts("outside_limit", of.outside_limit, not_negative{}), facts("waive", of.waived);
  facts("required_support", of.required_support);
  facts("all_cases", of.all_cases), facts("all_draws", of.all_draws);
  facts("unanswered", of.unanswered), facts("incomplete_because", of.incomplete_because);
  facts("refusal", of.refusal);
  facts("not_asked", of.not_asked), facts("checks", of.checks), facts("findings", of.findings);
  facts("failing", of.failing), facts("cause", of.cause), facts("plain_wrong", of.plain_wrong);
  facts("curves", of.curves);
  facts("observations", of.observations), facts("observation_counts", of.observation_counts);
  facts("protections", of.protections), facts("missing_protections", of.missing_protections);
  facts("draws", of.draws), facts("draw_products", of.draw_products), facts("coverage", of.covered);
  facts("kernel_seconds", of.kernel_seconds, not_negative{}),
      facts("oracle_seconds", of.oracle_seconds, not_negative{});
  facts.require(of.kernel_builds.size() == 1, "has more or fewer than one entry in 'kernel_builds'");
}

}  // namespace attest::audit

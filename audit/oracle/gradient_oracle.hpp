// What the oracle knows of the gradients of one problem: elements with their bounds, and narrower enclosures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/judge/beside_gradients.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/stored_gradient.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::audit {

/// One gradient of a problem, by the places of its elements in its compact tensor. Rows that belong to no query or key
/// have none.
struct gradient_list {
  struct place {
    reference::gradient_index at;
    std::size_t offset;
  };
  output_kind kind;
  owned_tensor form;  ///< zero_gradient
  std::vector<place> places{};
};

/// The gradients that a problem has; none without a dO.
std::vector<gradient_list> gradient_lists(owned_problem const& problem);

/// The gradients of the inputs. Their bounds count the errors of the O and LSE in `outputs`, or else of the O and LSE
/// that the problem hands over; without an LSE, of a forward pass under the contract: the first of readings_beside.
template <class T>
class gradient_oracle {
 public:
  /// All that is named outlives this object. Requires a dO
  gradient_oracle(owned_problem const& problem, problem::instance<T> const& p, owned_outputs const& outputs,
                  contract const& claim)
      : problem_(problem),
        p_(p),
        handed_{.o = outputs.o ? outputs.o : problem.draft().handed_o,
                .lse = outputs.lse ? outputs.lse : problem.draft().handed_lse},
        forward_(claim.model_for(problem.instance())),
        backward_(claim.gradient_for(problem.instance())) {
    output_views<T> given = views_of<T>(p, handed_);
    problem::sizes const& s = p.size();  // of packed rows, too
    if (given.o.present) given.o.shape = {s.b, s.hq, s.n, s.dv};
    if (given.lse.present) given.lse.shape = {s.b, s.hq, s.n, 1};
    inputs_ = {p.d_out(), given.o, given.lse, base_beside(outputs, claim)};
    mode_ = mode_beside(problem, outputs, given.o.present, given.lse.present, claim);
  }

  /// A source of elements with their bounds; none if nothing is claimed about such a problem.
  std::optional<reference::gradient_source<T>> source(problem::kernel_model const& forward,
                                                      problem::gradient_model const& backward) const {
    auto made = reference::gradient_source<T>::make(p_, inputs_, forward, backward, mode_);
    if (!made) return std::nullopt;
    return std::move(made).value();
  }

  /// The elements of each list, in its order. If nothing is claimed, values are open and bounds infinite.
  std::vector<std::vector<reference::gradient_element>> elements(std::vector<gradient_list> const& lists) const {
    std::vector<std::vector<reference::gradient_element>> all;
    for (gradient_list const& list : lists)
      all.emplace_back(list.places.size(),
                       reference::gradient_element{.lower = -reference::infinity, .upper = reference::infinity});
    auto from = source(forward_, backward_);
    if (!from) return all;
    for (std::int64_t b = 0; b < p_.size().b; ++b)
      for (std::int64_t g = 0; g < p_.size().hk; ++g) {
        auto const& group = from->group(b, g);
        for (std::size_t n = 0; n < lists.size(); ++n)
          for (std::size_t at = 0; at < lists[n].places.size(); ++at)
            if (auto const found = element_of(group, lists[n].places[at].at)) all[n][at] = *found;
      }
    reference::shared_gradient const dbias = from->dbias(), dsink = from->dsink();
    for (std::size_t n = 0; n < lists.size(); ++n)
      for (std::size_t at = 0; at < lists[n].places.size(); ++at) {
        auto const& [which, b, h, i, x] = lists[n].places[at].at;
        if (which == reference::gradient::dbias) all[n][at] = stored_as<T>(lists[n].form.type, dbias.at(b, h, i, x));
        if (which == reference::gradient::dsink) all[n][at] = stored_as<T>(lists[n].form.type, dsink.at(b, h, i, x));
      }
    return all;
  }

  template <unsigned W>
  std::vector<reference::enclosed_value<W>> enclose(std::span<reference::gradient_index const> wanted) const {
    return reference::compiled::enclose_gradients<W>(p_, inputs_, mode_, wanted);
  }

  problem::kernel_model const& forward() const noexcept { return forward_; }
  problem::gradient_model const& backward() const noexcept { return backward_; }
  reference::gradient_mode mode() const noexcept { return mode_; }

  /// The element of a group; nothing if it belongs to another one.
  static std::optional<reference::gradient_element> element_of(reference::group_gradients const& group,
                                                               reference::gradient_index const& at) {
    if (at.b != group.b) return std::nullopt;
    std::int64_t const head = at.which == reference::gradient::dq ? at.h / group.heads : at.h;
    if (head != group.g) return std::nullopt;
    switch (at.which) {
      case reference::gradient::dq: return group.dq_at(at.h % group.heads, at.i, at.x);
      case reference::gradient::dk: return group.dk_at(at.i, at.x);
      case reference::gradient::dv: return group.dv_at(at.i, at.x);
      default: return std::nullopt;
    }
  }

 private:
  owned_problem const& problem_;
  problem::instance<T> const& p_;
  owned_outputs handed_;
  problem::kernel_model forward_;
  problem::gradient_model backward_;
  reference::gradient_inputs<T> inputs_{};
  reference::gradient_mode mode_ = reference::gradient_mode::own;
};

}  // namespace attest::audit

// The memory of a call after it: the outputs, the bytes that the kernel changed beside them, and the place of a crash.
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "audit/isolation/call_memory.hpp"
#include "audit/isolation/memory_file.hpp"
#include "audit/isolation/merge_memory.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::layout;

/// The contents of memory of at most this size are kept, so that changed_since can compare them.
constexpr std::uint64_t very_small_memory = std::uint64_t{256} << 10;

/// The elements of a row that differ from those before the call.
template <class Bits>
std::size_t changed_elements(std::byte const* before, std::byte const* after, std::size_t elements) {
  std::size_t changed = 0;
  for (std::size_t j = 0; j < elements; ++j) {
    Bits a, b;
    std::memcpy(&a, before + j * sizeof a, sizeof a);
    std::memcpy(&b, after + j * sizeof b, sizeof b);
    changed += a != b;
  }
  return changed;
}

std::size_t changed_elements(std::byte const* before, std::byte const* after, std::size_t elements, std::size_t size) {
  return size == 2   ? changed_elements<std::uint16_t>(before, after, elements)
         : size == 4 ? changed_elements<std::uint32_t>(before, after, elements)
                     : changed_elements<std::uint64_t>(before, after, elements);
}

/// The output in this slot. Requires a slot of an output
output_kind kind_of(std::size_t slot) {
  auto const at = std::ranges::find(runner::output_slots, slot);
  return output_kinds[static_cast<std::size_t>(at - std::begin(runner::output_slots))];
}

}  // namespace

/// The elements of an output, compact. Restores their bytes in `after`; bytes that still differ lie outside the rows.
/// Rows that belong to no query may hold anything, and count as written. `written` receives the elements that were
/// written, in all rows and in rows of queries; `padding` receives what the rows without a query hold.
owned_tensor call_memory::taken(std::size_t index, std::span<std::byte const> before, std::span<std::byte> after,
                                written_elements& written, padding_found& padding) const {
  auto const& tensor = regions_[index]->tensor;
  auto const elements = tensor.row_elements(), row_bytes = elements * tensor.element();
  output_kind const kind = kind_of(index);
  bool const is_gradient = problem::is_gradient(kind);
  layout const rows = std::visit(
      [&](auto const& p) {
        return is_gradient            ? zero_gradient(problem_, kind)->layout
               : index == runner::lse ? problem::rows_layout(p)
                                      : problem::rows_layout(p, tensor.strided().shape[3]);
      },
      problem_.instance());
  owned_tensor compact{tensor.type(), rows, {}};
  compact.bytes.reserve(compact.spanned_elements() * tensor.element());
  std::vector<std::byte> unwritten;
  unwritten.reserve(compact.bytes.capacity());
  for_each_row(tensor.strided(), tensor.strided(), [&](std::size_t offset, std::size_t) {
    auto const at = tensor.position_of(offset);
    auto* const row = after.data() + at;
    written.all += changed_elements(before.data() + at, row, elements, tensor.element());
    compact.bytes.insert(compact.bytes.end(), row, row + row_bytes);
    unwritten.insert(unwritten.end(), before.data() + at, before.data() + at + row_bytes);
    std::memcpy(row, before.data() + at, row_bytes);
  });
  owned_tensor was{compact.type, compact.layout, std::move(unwritten)};
  auto const clear = [&](owned_tensor& output, std::span<std::byte const> earlier) {
    return is_gradient ? clear_gradient_padding(problem_, kind, output, earlier)
                       : clear_padding(problem_, output, earlier);
  };
  padding = clear(compact, was.bytes);
  clear(was, {});
  written.of_queries = changed_elements(was.bytes.data(), compact.bytes.data(), compact.bytes.size() / tensor.element(),
                                        tensor.element());
  written.expected = is_gradient ? answered_elements(problem_, kind, compact)
                                 : static_cast<std::size_t>(queries_of(problem_) * problem_.size().hq) *
                                       (index == runner::lse ? 1 : elements);
  return compact;
}

std::optional<broken_promise> call_memory::changed_surroundings(std::size_t index, std::span<std::byte const> before,
                                                                std::span<std::byte const> after) const {
  if (before.empty() || std::memcmp(before.data(), after.data(), before.size()) == 0) return std::nullopt;
  auto const& tensor = regions_[index]->tensor;
  std::string const name = runner::slot_names[index];
  auto const position = std::ranges::mismatch(before, after).in1 - before.begin();
  auto const at = tensor.byte_at(static_cast<std::size_t>(position));
  auto const end = static_cast<std::int64_t>(tensor.spanned_bytes());
  bool const inside = at >= 0 && at < end;
  if (tensor.is_input() && inside)
    return broken_promise{promise::leaves_inputs, name, fmt::format("writes into the input {}, at byte {}", name, at)};
  return broken_promise{promise::leaves_gaps, name,
                        inside   ? fmt::format("writes between the rows of {}, at byte {}", name, at)
                        : at < 0 ? fmt::format("writes {} bytes before {}", -at, name)
                                 : fmt::format("writes {} bytes past {}", at - end, name)};
}

std::optional<error> call_memory::read_back(int memory, call_outcome outcome, owned_outputs& outputs,
                                            std::vector<broken_promise>& broken, bool remember) {
  bool const small = !written_.empty();
  std::vector<std::byte> whole(small ? written_.size() : 0);
  auto const first = page_bytes();
  if (small)
    if (auto why = read_all(memory, std::span(whole).subspan(first), begin_ + first)) return why;
  if (remember && whole.size() <= very_small_memory) found_ = whole;
  owned_outputs found;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!regions_[i]) continue;
    auto const& [tensor, memory_offset, place, guard] = *regions_[i];
    std::vector<std::byte> image, read;
    std::span<std::byte const> before;
    std::span<std::byte> after;
    if (small) {
      before = std::span(written_).subspan(memory_offset, tensor.image_bytes());
      after = std::span(whole).subspan(memory_offset, tensor.image_bytes());
    } else {
      image.resize(tensor.image_bytes()), read.resize(tensor.image_bytes());
      tensor.write_image(image);
      if (auto why = read_all(memory, read, begin_ + memory_offset)) return why;
      before = image, after = read;
    }
    if (!tensor.is_input()) {
      std::string const name = runner::slot_names[i];
      written_elements written;
      padding_found padding;
      auto compact = taken(i, before, after, written, padding);
      if (outcome == call_outcome::succeeded && written.of_queries != written.expected)
        broken.push_back({promise::writes_every_element, name,
                          fmt::format("leaves {} of {} elements of {} unwritten", written.expected - written.of_queries,
                                      written.expected, name)});
      if (outcome == call_outcome::unsupported && written.all != 0)
        broken.push_back({promise::untouched_outputs, name,
                          fmt::format("answers UNSUPPORTED but writes {} elements of {}", written.all, name)});
      output_kind const kind = kind_of(i);
      found.of(kind) = std::move(compact);
      found.padding[static_cast<std::size_t>(kind)] = padding;
    }
    if (auto changed = changed_surroundings(i, before, after)) broken.push_back(*std::move(changed));
  }
  if (outcome == call_outcome::succeeded) outputs = std::move(found);
  return std::nullopt;
}

bool call_memory::changed_since(int memory) const {
  auto const first = page_bytes();
  if (found_.size() <= first) return false;
  std::vector<std::byte> now(found_.size());
  if (read_all(memory, std::span(now).subspan(first), begin_ + first)) return false;
  return std::memcmp(now.data() + first, found_.data() + first, found_.size() - first) != 0;
}

std::optional<broken_promise> call_memory::explain_crash(int memory, std::uint64_t sequence) const {
  runner::crash_note note{};
  if (read_all(memory, std::as_writable_bytes(std::span(&note, 1)), 0)) return std::nullopt;
  if (note.magic != runner::crash_magic || note.sequence != sequence || note.address < 0) return std::nullopt;
  bool const writes = note.access == runner::crash_note::writes;
  std::string_view const touches = writes ? "writes" : note.access == runner::crash_note::reads ? "reads" : "touches";
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!regions_[i]) continue;
    auto const& [tensor, memory_offset, place, guard] = *regions_[i];
    auto const at = note.address - static_cast<std::int64_t>(place);  // counted from the first element
    auto const end = static_cast<std::int64_t>(tensor.spanned_bytes());
    auto const in_range = at + static_cast<std::int64_t>(tensor.skew() + guard);  // counted from the first guard byte
    auto const pages = rounded_up(tensor.skew() + tensor.spanned_bytes(), page_bytes());
    if (in_range < 0 || in_range >= static_cast<std::int64_t>(pages + 2 * guard)) continue;
    std::string const name = runner::slot_names[i];
    auto const in_piece = [&](memory_piece const& piece) {
      return at >= piece.first && at - piece.first < static_cast<std::int64_t>(piece.bytes);
    };
    if (std::ranges::any_of(tensor.pieces(), in_piece)) {
      if (!tensor.is_input() || !writes) return std::nullopt;
      return broken_promise{promise::leaves_inputs, name, fmt::format("writes into the input {}", name)};
    }
    auto const element = static_cast<std::int64_t>(tensor.element());
    return broken_promise{promise::stays_inside, name,
                          at < 0 ? fmt::format("{} {} bytes before the start of {}", touches, -at, name)
                          : at < end
                              ? fmt::format("{} between the rows of {}, at byte {}", touches, name, at)
                              : fmt::format("{} element {} past the end of {}", touches, (at - end) / element, name)};
  }
  return std::nullopt;
}

}  // namespace attest::audit

#include "audit/isolation/call_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::layout;
using problem::result;

/// Inaccessible bytes on each side of a tensor: so many that a wrong row index does not skip them.
constexpr std::uint64_t guard_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t unaligned_base = 64;

constexpr std::byte input_surroundings{0xFF};   // a NaN in every element type
constexpr std::byte output_surroundings{0xA5};  // a value no kernel computes by chance

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

/// A quiet NaN that arithmetic does not produce: an output element that still has it was not written.
/// Requires  a floating type
constexpr std::uint64_t unwritten_pattern(element_type type) noexcept {
  problem::binary_format const format = problem::row_of(type).format;
  return format.infinity() | format.quiet_bit() | (0xA5A5A5A5A5A5A5A5 & (format.quiet_bit() - 1));
}

/// Calls visit(offset of the row's first element) for every row along the last axis, in order; never for an empty
/// tensor.
template <class Visit>
void for_each_row(layout const& tensor, Visit visit) {
  auto const rank = static_cast<std::size_t>(tensor.rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (tensor.shape[axis] == 0) return;
  std::array<std::int64_t, 4> at{};
  for (;;) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) offset += at[axis] * tensor.stride[axis];
    visit(static_cast<std::size_t>(offset));
    std::size_t axis = rank - 1;  // the next row, as an odometer counts
    while (axis > 0 && ++at[axis - 1] == tensor.shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The layout in a descriptor of the C interface: of rank 4, the last stride 1.
layout descriptor_layout(layout const& from, int problem_rank) {
  layout to = problem::lifted(from, problem_rank);
  to.stride[3] = 1;
  // A new axis of size 1 gets the stride that it has in a row-major tensor.
  for (std::size_t axis = 3; axis-- > 0;)
    if (to.stride[axis] == 0 && to.shape[axis] == 1)
      to.stride[axis] =
          problem::checks::multiply_add(std::max<std::int64_t>(to.shape[axis + 1], 1), to.stride[axis + 1], 0)
              .value_or(0);
  return to;
}

/// Row-major with `gap` elements after each row; none where it is larger than 2⁶³ − 1 bytes.
std::optional<layout> gapped(std::initializer_list<std::int64_t> shape, std::int64_t gap, std::size_t element) {
  layout row_major;
  for (std::int64_t const size : shape) row_major.shape[static_cast<std::size_t>(row_major.rank++)] = size;
  std::int64_t step = 1;
  for (auto axis = static_cast<std::size_t>(row_major.rank); axis-- > 0;) {
    row_major.stride[axis] = step;
    bool const last = axis + 1 == static_cast<std::size_t>(row_major.rank);
    auto const row = problem::checks::multiply_add(std::max<std::int64_t>(row_major.shape[axis], 1), 1, last ? gap : 0);
    auto const next = row ? problem::checks::multiply_add(step, *row, 0) : row;
    if (!next || *next > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(element))
      return std::nullopt;
    step = *next;
  }
  return row_major;
}

error memory_fault(std::string_view action, int code) {
  return {error_code::unreadable, "",
          fmt::format("the memory of the call cannot be {}: {}", action, std::strerror(code))};
}

std::optional<error> write_all(int memory, std::span<std::byte const> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pwrite(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return memory_fault("written", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

std::optional<error> read_all(int memory, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return memory_fault("read", count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

/// An output without bytes; none where it has no layout.
std::optional<owned_tensor> output_tensor(element_type type, std::optional<layout> const& strided) {
  if (!strided) return std::nullopt;
  return owned_tensor{type, *strided, {}};
}

}  // namespace

void call_memory::place(runner::tensor_index index, placed_tensor placed, call_request const& request,
                        std::uint64_t& memory_end) {
  auto const& tensor = placed.tensor();
  auto& slot = message_.slots[index];
  auto const element = problem::size_of(tensor.type);
  placed.bytes = tensor.spanned_elements() * element;

  slot.present = 1;
  slot.type_code = static_cast<std::uint8_t>(problem::row_of(tensor.type).dlpack);
  slot.type_bits = static_cast<std::uint8_t>(8 * element);
  auto const strided =
      index == runner::lse ? tensor.layout : descriptor_layout(tensor.layout, placed.input ? problem_.rank() : 4);
  slot.rank = strided.rank;
  std::ranges::copy(strided.shape, slot.shape);
  std::ranges::copy(strided.stride, slot.strides);

  bool const unaligned = request.placement == placement::unaligned;
  std::uint64_t const before = unaligned && placed.bytes > 0 ? unaligned_base + element : 0;
  slot.mapped_bytes = rounded_up(before + placed.bytes, page_bytes());
  placed.first = request.placement == placement::end ? slot.mapped_bytes - placed.bytes : before;
  slot.memory_offset = memory_end;
  memory_end += slot.mapped_bytes;
  slot.place = message_.range_bytes + guard_bytes;
  message_.range_bytes = slot.place + slot.mapped_bytes + guard_bytes;
  slot.byte_offset = before;
  slot.data = unaligned && placed.bytes == 0 ? runner::null_data : slot.place + placed.first - before;
  regions_[index] = std::move(placed);
}

result<call_memory> call_memory::plan(owned_problem const& problem, call_request const& request,
                                      isolation_limits const& limits) {
  if (request.output_gap < 0 || request.output_gap > 1 << 20)
    return error{error_code::bad_value, "output_gap", fmt::format("is {}, expected 0 to 2^20", request.output_gap)};

  call_memory planned(problem);
  problem::sizes const& s = problem.size();
  problem_draft const& inputs = planned.problem_.draft();
  auto& message = planned.message_;
  message.magic = runner::call_magic;
  message.threads = request.threads;
  message.parameters = inputs;

  auto const type = problem.type();
  auto const lse_type = problem::row_of(type).lse;
  auto const gap = request.output_gap;
  std::array<placed_tensor, runner::slot_count> regions;
  regions[runner::q].input = &inputs.q;
  regions[runner::k].input = &inputs.k;
  regions[runner::v].input = &inputs.v;
  if (inputs.mask) regions[runner::mask].input = &*inputs.mask;
  if (inputs.bias) regions[runner::bias].input = &*inputs.bias;
  auto& out = regions[runner::out].output;
  auto& lse = regions[runner::lse].output;
  auto& weights = regions[runner::weights].output;
  out = output_tensor(type, gapped({s.b, s.hq, s.n, s.dv}, gap, 8));
  if (request.want_lse) lse = output_tensor(lse_type, gapped({s.b, s.hq, s.n}, gap, 8));
  if (request.want_weights) weights = output_tensor(type, gapped({s.b, s.hq, s.n, s.m}, gap, 8));
  bool fits = out && (lse || !request.want_lse) && (weights || !request.want_weights);

  std::uint64_t needed = 0;
  for (auto const& region : regions) {
    if (!fits || !region.present()) continue;
    auto const& tensor = region.tensor();
    auto const spanned = tensor.spanned_elements();
    fits = spanned <= limits.bytes / problem::size_of(tensor.type) &&
           (needed += spanned * problem::size_of(tensor.type)) <= limits.bytes;
  }
  if (!fits)
    return error{error_code::size_overflow, "",
                 fmt::format("the call needs more memory than the limit of {} bytes", limits.bytes)};

  planned.memory_bytes_ = page_bytes();  // the first page holds the crash note
  for (std::uint32_t i = 0; i < runner::slot_count; ++i)
    if (regions[i].present())
      planned.place(static_cast<runner::tensor_index>(i), std::move(regions[i]), request, planned.memory_bytes_);
  return planned;
}

/// The contents of the mapped pages of one tensor before the call.
std::vector<std::byte> call_memory::image(std::size_t index) const {
  auto const& region = regions_[index];
  std::vector<std::byte> bytes(message_.slots[index].mapped_bytes,
                               region.input ? input_surroundings : output_surroundings);
  auto* const first = bytes.data() + region.first;
  if (region.input) {
    std::copy_n(region.input->bytes.data(), region.bytes, first);
    return bytes;
  }
  auto const& strided = region.output->layout;
  auto const element = problem::size_of(region.output->type);
  auto const pattern = unwritten_pattern(region.output->type);
  auto const row_elements = static_cast<std::size_t>(strided.shape[static_cast<std::size_t>(strided.rank - 1)]);
  for_each_row(strided, [&](std::size_t offset) {
    for (std::size_t j = 0; j < row_elements; ++j) std::memcpy(first + (offset + j) * element, &pattern, element);
  });
  return bytes;
}

std::optional<error> call_memory::fill(int memory) const {
  // The file may only grow: it is sealed against shrinking, so that the other process cannot shorten it while we read.
  struct stat about{};
  if (::fstat(memory, &about) != 0) return memory_fault("examined", errno);
  if (about.st_size < static_cast<off_t>(memory_bytes_))
    if (::ftruncate(memory, static_cast<off_t>(memory_bytes_)) != 0) return memory_fault("grown", errno);
  runner::crash_note const empty{};
  if (auto why = write_all(memory, std::as_bytes(std::span(&empty, 1)), 0)) return why;
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (regions_[i].present())
      if (auto why = write_all(memory, image(i), message_.slots[i].memory_offset)) return why;
  return std::nullopt;
}

std::optional<error> call_memory::read_back(int memory, call_outcome outcome, owned_outputs& outputs,
                                            std::vector<broken_promise>& broken) const {
  owned_outputs taken;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    auto const& region = regions_[i];
    if (!region.present()) continue;
    std::string const name = runner::slot_names[i];
    auto const before = image(i);
    std::vector<std::byte> after(before.size());
    if (auto why = read_all(memory, after, message_.slots[i].memory_offset)) return why;
    auto const& tensor = region.tensor();
    auto const element = problem::size_of(tensor.type);

    if (region.output) {
      // Copies every element and restores its bytes in `after`: what still differs lies outside the rows.
      auto const& strided = tensor.layout;
      auto const row_elements = static_cast<std::size_t>(strided.shape[static_cast<std::size_t>(strided.rank - 1)]);
      owned_tensor compact{tensor.type, {}, {}};
      std::size_t written = 0, elements = 0;
      for_each_row(strided, [&](std::size_t offset) {
        auto const row = region.first + offset * element, row_bytes = row_elements * element;
        for (std::size_t j = 0; j < row_elements; ++j)
          written += std::memcmp(&before[row + j * element], &after[row + j * element], element) != 0;
        elements += row_elements;
        compact.bytes.insert(compact.bytes.end(), &after[row], &after[row] + row_bytes);
        std::memcpy(&after[row], &before[row], row_bytes);
      });
      if (outcome == call_outcome::succeeded && written != elements)
        broken.push_back({promise::writes_every_element, name,
                          fmt::format("leaves {} of {} elements of {} unwritten", elements - written, elements, name)});
      if (outcome == call_outcome::unsupported && written != 0)
        broken.push_back({promise::untouched_outputs, name,
                          fmt::format("answers UNSUPPORTED but writes {} elements of {}", written, name)});
      bool const is_lse = i == runner::lse;
      compact.layout = is_lse ? problem::rows_layout(problem_.size(), problem_.rank())
                              : problem::rows_layout(problem_.size(), problem_.rank(), strided.shape[3]);
      if (i == runner::out) taken.o = std::move(compact);
      else (is_lse ? taken.lse : taken.weights) = std::move(compact);
    }
    auto const [old_at, new_at] = std::ranges::mismatch(before, after);
    if (new_at == after.end()) continue;
    auto const at = static_cast<std::uint64_t>(new_at - after.begin());
    bool const inside = at >= region.first && at < region.first + region.bytes;
    auto const distance = at < region.first ? region.first - at : at - region.first - (inside ? 0 : region.bytes);
    if (region.input && inside)
      broken.push_back(
          {promise::leaves_inputs, name, fmt::format("writes into the input {}, at byte {}", name, distance)});
    else
      broken.push_back(
          {promise::leaves_gaps, name,
           inside ? fmt::format("writes between the rows of {}, at byte {}", name, distance)
                  : fmt::format("writes {} bytes {} {}", distance, at < region.first ? "before" : "past", name)});
  }
  if (outcome == call_outcome::succeeded) outputs = std::move(taken);
  return std::nullopt;
}

std::optional<broken_promise> call_memory::explain_crash(int memory, std::uint64_t sequence) const {
  runner::crash_note note{};
  if (read_all(memory, std::as_writable_bytes(std::span(&note, 1)), 0)) return std::nullopt;
  if (note.magic != runner::crash_magic || note.sequence != sequence || note.address < 0) return std::nullopt;
  auto const at = static_cast<std::uint64_t>(note.address);
  bool const writes = note.access == runner::crash_note::writes;
  std::string_view const touches = writes ? "writes" : note.access == runner::crash_note::reads ? "reads" : "touches";
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    auto const& slot = message_.slots[i];
    auto const& region = regions_[i];
    if (!region.present() || at < slot.place - guard_bytes || at >= slot.place + slot.mapped_bytes + guard_bytes)
      continue;
    auto const first = slot.place + region.first, end = first + region.bytes;
    std::string const name = runner::slot_names[i];
    if (at >= slot.place && at < slot.place + slot.mapped_bytes) {
      if (!region.input || !writes) return std::nullopt;
      return broken_promise{promise::leaves_inputs, name, fmt::format("writes into the input {}", name)};
    }
    auto const element = problem::size_of(region.tensor().type);
    return broken_promise{promise::stays_inside, name,
                          at < first
                              ? fmt::format("{} {} bytes before the start of {}", touches, first - at, name)
                              : fmt::format("{} element {} past the end of {}", touches, (at - end) / element, name)};
  }
  return std::nullopt;
}

}  // namespace attest::audit

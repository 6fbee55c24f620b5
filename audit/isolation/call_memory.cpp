#include "audit/isolation/call_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/isolation/merge_memory.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::layout;
using problem::result;

/// Inaccessible bytes on each side of a tensor: enough that a wrong row index does not skip them.
constexpr std::uint64_t guard_bytes = std::uint64_t{1} << 20;
/// Memory of at most this size is written and read at once. The bytes written are kept until they are compared.
constexpr std::uint64_t small_memory = std::uint64_t{16} << 20, very_small_memory = std::uint64_t{256} << 10;

/// The layout in a descriptor of the C interface: of rank 4, the last stride 1.
layout descriptor_layout(layout const& from, int problem_rank) {
  layout to = problem::lifted(from, problem_rank);
  to.stride[3] = 1;
  // A new axis of size 1 has the stride that it has in a row-major tensor.
  for (std::size_t axis = 3; axis-- > 0;)
    if (to.stride[axis] == 0 && to.shape[axis] == 1)
      to.stride[axis] =
          problem::checks::multiply_add(std::max<std::int64_t>(to.shape[axis + 1], 1), to.stride[axis + 1], 0)
              .value_or(0);
  return to;
}

error file_fault(std::string_view action, int code) {
  return {error_code::unreadable, "",
          fmt::format("the memory of the call cannot be {}: {}", action, std::strerror(code))};
}

std::optional<error> write_all(int memory, std::span<std::byte const> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pwrite(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_fault("written", count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

std::optional<error> read_all(int memory, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    auto const count = ::pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return file_fault("read", count < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return std::nullopt;
}

error needs_too_much(isolation_limits const& limits) {
  return {error_code::size_overflow, "",
          fmt::format("the call needs more memory than the limit of {} bytes", limits.bytes)};
}

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

}  // namespace

result<owned_descriptor> call_memory::shared() {
  owned_descriptor memory(::memfd_create("attest-call", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.get() < 0 || ::ftruncate(memory.get(), ::sysconf(_SC_PAGESIZE)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return file_fault("made", errno);
  return memory;
}

void call_memory::describe(runner::tensor_index index, element_type type, layout const& strided) {
  auto& slot = message_->slots[index];
  slot.present = 1;
  slot.type_code = static_cast<std::uint8_t>(problem::row_of(type).dlpack);
  slot.type_bits = static_cast<std::uint8_t>(8 * problem::size_of(type));
  slot.rank = strided.rank;
  std::ranges::copy(strided.shape, slot.shape);
  std::ranges::copy(strided.stride, slot.strides);
}

std::optional<error> call_memory::add(runner::tensor_index index, placed_tensor tensor, placement where,
                                      isolation_limits const& limits) {
  auto& message = *message_;
  auto const unsupported = [](std::string reason) { return error{error_code::unsupported, "", std::move(reason)}; };
  if (!tensor.place(where, runner::most_pieces - message.piece_count))
    return unsupported(fmt::format("the call has more than {} parts of memory", runner::most_pieces));
  if (tensor.image_bytes() > limits.bytes || memory_bytes_ + tensor.image_bytes() > limits.bytes)
    return needs_too_much(limits);

  region placed{.tensor = std::move(tensor), .memory_offset = memory_bytes_};
  bool const far = placed.tensor.pieces().size() > 1;
  auto const spanned = placed.tensor.skew() + placed.tensor.spanned_bytes();
  // Offsets that a kernel cuts to 32 bits may be wrong by as much as the tensor spans, either way.
  placed.guard = far ? std::max(guard_bytes, rounded_up(spanned, page_bytes())) : guard_bytes;
  if (spanned > limits.address_bytes || message.range_bytes + 3 * placed.guard > limits.address_bytes)
    return unsupported(fmt::format("the call needs more than the {:.3g} GiB of address space that it may have",
                                   static_cast<double>(limits.address_bytes) / 0x1p30));
  auto const base = message.range_bytes + placed.guard;
  placed.place = base + placed.tensor.skew();
  message.range_bytes = base + rounded_up(spanned, page_bytes()) + placed.guard;
  for (memory_piece const& piece : placed.tensor.pieces())
    message.pieces[message.piece_count++] = {
        static_cast<std::uint64_t>(static_cast<std::int64_t>(placed.place) + piece.first), piece.bytes,
        begin_ + memory_bytes_ + piece.at, !placed.tensor.is_input()};
  memory_bytes_ += placed.tensor.image_bytes();

  describe(index, placed.tensor.type(), placed.tensor.strided());
  auto& slot = message.slots[index];
  slot.byte_offset = placed.tensor.byte_offset();
  slot.data = where == placement::unaligned && placed.tensor.spanned_bytes() == 0 ? runner::null_data
                                                                                  : placed.place - slot.byte_offset;
  regions_[index] = std::move(placed);
  return std::nullopt;
}

result<call_memory> call_memory::plan(owned_problem const& problem, call_request const& request,
                                      isolation_limits const& limits, memory_origin from) {
  memory_form const& form = request.memory;
  if (auto why = memory_fault(problem, form)) return *std::move(why);
  bool const one_row = problem.draft().merge && odd_rows_are_one(problem.draft());
  call_memory planned(one_row ? with_one_row_in_odd_parts(problem) : problem);
  problem::sizes const& s = problem.size();
  problem_draft const& inputs = planned.problem_.draft();
  auto& message = *planned.message_;
  message.magic = runner::call_magic;
  message.threads = request.threads;
  message.parameters = inputs;
  message.range_bytes = from.range;
  planned.begin_ = from.memory;
  planned.memory_bytes_ = page_bytes();  // the first page of all holds the crash note

  auto const where = form.unaligned ? placement::unaligned : request.placement;
  std::optional<error> why;
  auto const input = [&](runner::tensor_index index, call_tensor which, owned_tensor const& tensor) {
    auto const usual = descriptor_layout(tensor.layout, problem.rank());
    auto const strided = formed(usual, which, form);
    if (!why)
      why = strided ? planned.add(index, placed_tensor::of_input(tensor, usual, *strided), where, limits)
                    : needs_too_much(limits);
  };
  auto const output = [&](runner::tensor_index index, call_tensor which, element_type type, layout const& usual) {
    auto const strided = formed(usual, which, form);
    if (!why)
      why = strided ? planned.add(index, placed_tensor::of_output(type, *strided), where, limits)
                    : needs_too_much(limits);
  };
  bool const merge = inputs.merge.has_value();
  if (merge) message.merge = shape_of_merge(inputs, one_row);
  if (!merge) {
    input(runner::q, call_tensor::q, inputs.q);
    input(runner::k, call_tensor::k, inputs.k);
  }
  if (merge || !form.v_in_k) {
    input(runner::v, call_tensor::v, inputs.v);
  } else if (!why) {
    auto in_k = planned.regions_[runner::k]->tensor.strided();
    in_k.shape[3] = s.dv;
    planned.describe(runner::v, inputs.v.type, in_k);
    message.slots[runner::v].data = message.slots[runner::k].data;
    message.slots[runner::v].byte_offset = message.slots[runner::k].byte_offset;
  }
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, std::optional<owned_tensor> const& tensor, runner::tensor_index index) {
        if (!tensor || (merge && index != runner::bias)) return;
        call_tensor const which = index == runner::mask   ? call_tensor::mask
                                  : index == runner::bias ? call_tensor::bias
                                  : index == runner::keep ? call_tensor::keep
                                                          : call_tensor::beside;
        if (row.rank == 4) return input(index, which, *tensor);
        if (!why) why = planned.add(index, placed_tensor::of_input(*tensor, tensor->layout, tensor->layout), where, limits);
      },
      inputs, runner::optional_slots{});
  auto const type = problem.type();
  bool const packed = inputs.q_offsets.has_value();
  std::int64_t const entries = packed ? 1 : s.b, queries = packed ? inputs.q.layout.shape[2] : s.n;
  output(runner::out, call_tensor::o, type, layout::compact({entries, s.hq, queries, s.dv}));
  if (request.want_lse)
    output(runner::lse, call_tensor::lse, problem::row_of(type).lse, layout::compact({entries, s.hq, queries}));
  if (request.want_weights && !merge && !packed && !inputs.k_offsets)
    output(runner::weights, call_tensor::weights, type, layout::compact({s.b, s.hq, s.n, s.m}));
  if (why) return *std::move(why);
  return planned;
}

std::uint64_t call_memory::tensor_bytes() const noexcept { return memory_bytes_ - page_bytes(); }

std::optional<error> call_memory::fill(int memory) {
  // The file may only grow: it is sealed against shrinking, so that the other process cannot shorten it while we read.
  struct stat about{};
  if (::fstat(memory, &about) != 0) return file_fault("examined", errno);
  auto const end = static_cast<off_t>(begin_ + memory_bytes_);
  if (about.st_size < end)
    if (::ftruncate(memory, end) != 0) return file_fault("grown", errno);
  // The pages that an earlier, larger call left are given back to the system.
  if (about.st_size > end &&
      static_cast<std::uint64_t>(about.st_blocks) * 512 > begin_ + memory_bytes_ + 4 * small_memory)
    static_cast<void>(::fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, about.st_size - end));

  if (memory_bytes_ <= small_memory) {
    written_.assign(memory_bytes_, std::byte{0});
    for (auto const& region : regions_)
      if (region)
        region->tensor.write_image(std::span(written_).subspan(region->memory_offset, region->tensor.image_bytes()));
    return write_all(memory, written_, begin_);
  }
  runner::crash_note const empty{};
  if (auto why = write_all(memory, std::as_bytes(std::span(&empty, 1)), begin_)) return why;
  for (auto const& region : regions_) {
    if (!region) continue;
    std::vector<std::byte> image(region->tensor.image_bytes());
    region->tensor.write_image(image);
    if (auto why = write_all(memory, image, begin_ + region->memory_offset)) return why;
  }
  return std::nullopt;
}

/// The elements of an output, compact. Restores their bytes in `after`; bytes that still differ lie outside the rows.
/// Rows that belong to no query may hold anything, and count as written. `written` receives the elements that were
/// written, in all rows and in rows of queries; `padding` receives what the rows without a query hold.
owned_tensor call_memory::taken(std::size_t index, std::span<std::byte const> before, std::span<std::byte> after,
                                written_elements& written, padding_found& padding) const {
  auto const& tensor = regions_[index]->tensor;
  auto const elements = tensor.row_elements(), row_bytes = elements * tensor.element();
  layout const rows = std::visit(
      [&](auto const& p) {
        return index == runner::lse ? problem::rows_layout(p) : problem::rows_layout(p, tensor.strided().shape[3]);
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
  padding = clear_padding(problem_, compact, was.bytes);
  clear_padding(problem_, was);
  written.of_queries = changed_elements(was.bytes.data(), compact.bytes.data(),
                                        compact.bytes.size() / tensor.element(), tensor.element());
  written.expected = static_cast<std::size_t>(queries_of(problem_) * problem_.size().hq) *
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
      output_kind const kind = i == runner::out   ? output_kind::o
                               : i == runner::lse ? output_kind::lse
                                                  : output_kind::weights;
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

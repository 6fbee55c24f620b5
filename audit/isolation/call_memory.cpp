#include "audit/isolation/call_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/isolation/memory_file.hpp"
#include "audit/isolation/merge_memory.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

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
constexpr std::uint64_t small_memory = std::uint64_t{16} << 20;

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

error needs_too_much(isolation_limits const& limits) {
  return {error_code::size_overflow, "",
          fmt::format("the call needs more memory than the limit of {} bytes", limits.bytes)};
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

  bool const packed = inputs.q_offsets.has_value();
  std::int64_t const entries = packed ? 1 : s.b, queries = packed ? inputs.q.layout.shape[2] : s.n;
  auto const where = form.unaligned ? placement::unaligned : request.placement;
  std::optional<error> why;
  auto const input = [&](runner::tensor_index index, call_tensor which, owned_tensor const& tensor) {
    auto const usual = which == call_tensor::lse ? layout::compact({entries, s.hq, queries})
                                                 : descriptor_layout(tensor.layout, problem.rank());
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
  problem::operator_row const& of = *inputs.of;
  bool const merge = inputs.merge.has_value();  // v and bias hold its parts
  if (merge) message.merge = shape_of_merge(inputs, one_row);
  if (of.does_take("q")) input(runner::q, call_tensor::q, inputs.q);
  if (of.does_take("k")) input(runner::k, call_tensor::k, inputs.k);
  if (merge || (of.does_take("v") && !form.v_in_k)) {
    input(runner::v, call_tensor::v, inputs.v);
  } else if (of.does_take("v") && !why) {
    auto in_k = planned.regions_[runner::k]->tensor.strided();
    in_k.shape[3] = s.dv;
    planned.describe(runner::v, inputs.v.type, in_k);
    message.slots[runner::v].data = message.slots[runner::k].data;
    message.slots[runner::v].byte_offset = message.slots[runner::k].byte_offset;
  }
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, std::optional<owned_tensor> const& tensor, runner::tensor_index index) {
        if (!tensor || (merge && index != runner::bias)) return;
        call_tensor const which = index == runner::mask    ? call_tensor::mask
                                  : index == runner::bias  ? call_tensor::bias
                                  : index == runner::keep  ? call_tensor::keep
                                  : index == runner::d_out ? call_tensor::q
                                                           : call_tensor::beside;
        if (row.rank == 4) return input(index, which, *tensor);
        if (!why)
          why = planned.add(index, placed_tensor::of_input(*tensor, tensor->layout, tensor->layout), where, limits);
      },
      inputs, runner::optional_slots{});
  auto const type = problem.type();
  if (inputs.handed_o) input(runner::out, call_tensor::o, *inputs.handed_o);
  if (inputs.handed_lse) input(runner::lse, call_tensor::lse, *inputs.handed_lse);
  for (output_kind const kind : of.gives) {
    auto const gradient = problem::is_gradient(kind) ? zero_gradient(problem, kind) : std::nullopt;
    if (!gradient) continue;
    bool const is_sink = kind == output_kind::dsink, moves = kind != output_kind::dbias && !is_sink;
    output(runner::output_slots[static_cast<std::size_t>(kind)], moves ? call_tensor::o : call_tensor::beside,
           gradient->type, is_sink ? gradient->layout : descriptor_layout(gradient->layout, problem.rank()));
  }
  auto const wanted = [&](output_kind which, bool asked) {
    return of.does_give(which) && (which == of.gives.front() || asked);
  };
  if (wanted(output_kind::o, true))
    output(runner::out, call_tensor::o, type, layout::compact({entries, s.hq, queries, s.dv}));
  if (wanted(output_kind::lse, request.want_lse))
    output(runner::lse, call_tensor::lse, problem::row_of(type).lse, layout::compact({entries, s.hq, queries}));
  if (wanted(output_kind::weights, request.want_weights) && !packed && !inputs.k_offsets)
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

}  // namespace attest::audit

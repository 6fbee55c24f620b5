// The messages between the auditing process and its runner: plain data over a socket, one message a packet.
//
// The runner trusts its parent. The parent treats everything that the runner sends as hostile, since a kernel under
// audit shares the memory and the descriptors of the runner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "audit/isolation/runner/protections.hpp"
#include "problem/parameters.hpp"

namespace attest::audit::runner {

inline constexpr int channel_descriptor = 3;  ///< the runner's end of the socket
inline constexpr int memory_descriptor = 4;   ///< the shared memory: a crash_note, then the tensors

/// To a process that serves a kernel and was not started for it (attest_serve_attached): a channel and the shared
/// memory, as SCM_RIGHTS. From then on the channel is the same as for a runner, from the greeting on.
struct attach_message {
  std::uint32_t magic;
};
inline constexpr std::uint32_t attach_magic = 0x48435441;

inline constexpr std::uint32_t filter_magic = 0x544C4946, caged_magic = 0x45474143, load_magic = 0x44414F4C;
inline constexpr std::uint32_t hello_magic = 0x6F4C4C48, call_magic = 0x4C4C4143, reply_magic = 0x594C5052,
                               no_memory_magic = 0x4D454D4E, no_range_magic = 0x474E524E, no_thread_magic = 0x5248544E,
                               crash_magic = 0x48535243;

/// The tensors of a call, in the order of call_message::slots. In a backward pass, out and lse are inputs.
enum tensor_index : std::uint32_t {
  q,
  k,
  v,
  mask,
  bias,
  out,
  lse,
  weights,
  sink,
  q_lengths,
  k_lengths,
  q_offsets,
  k_offsets,
  block_table,
  block_mask,
  keep,  // version 2 of the interface
  d_out,
  d_q,
  d_k,
  d_v,
  d_bias,
  d_sink,  // version 3
  slot_count
};
inline constexpr char const* slot_names[slot_count] = {
    "q",    "k",         "v",         "mask",      "bias",      "o",           "lse",        "weights",
    "sink", "q_lengths", "k_lengths", "q_offsets", "k_offsets", "block_table", "block_mask", "keep",
    "do",   "dq",        "dk",        "dv",        "dbias",     "dsink"};
/// The slot of each output, by problem::output_kind.
inline constexpr tensor_index output_slots[] = {out, lse, weights, d_q, d_k, d_v, d_bias, d_sink};
/// The slot of each optional input, under the names of problem::optional_tensor.
struct optional_slots {
  tensor_index mask = runner::mask, bias = runner::bias, sink = runner::sink, q_lengths = runner::q_lengths,
               k_lengths = runner::k_lengths, q_offsets = runner::q_offsets, k_offsets = runner::k_offsets,
               block_table = runner::block_table, block_mask = runner::block_mask, keep = runner::keep,
               d_out = runner::d_out;
};

/// To the runner, first: the seccomp filter, as the instructions of struct sock_filter. Only `count` of them are sent.
inline constexpr std::uint32_t most_instructions = 1024;
struct filter_message {
  std::uint32_t magic, count;
  std::uint64_t instructions[most_instructions];
};

/// From the runner, before any code of the kernel runs: which protections hold. The sender's credentials name its
/// process.
struct caged_message {
  std::uint32_t magic;
  std::int32_t fault;           ///< why there is no process for the kernel; 0 if there is one
  std::uint64_t address_bytes;  ///< the largest address range that the system gives, of the powers of 2 up to 2^45
  protection_faults faults;
};

/// To the runner, after that: the library is to be loaded.
struct load_message {
  std::uint32_t magic;
};

enum class greeting : std::uint32_t {
  ready,       ///< text is the kernel's own name, or empty
  not_loaded,  ///< text is the loader's message
  no_symbol,
  no_runner_memory  ///< the runner itself could not start
};

/// From the runner, once, after that: the kernel is loaded, or cannot be.
struct hello_message {
  std::uint32_t magic;
  greeting state;
  std::uint32_t environment_changed;  ///< loading the library changed the floating-point environment
  char text[512];
};

/// One tensor.
struct tensor_slot {
  std::uint32_t present;
  std::uint8_t type_code, type_bits;  ///< as in DLDataType
  std::int32_t rank;
  std::int64_t shape[4], strides[4];
  std::uint64_t data;         ///< DLTensor::data, relative to the start of the address range; null_data = NULL
  std::uint64_t byte_offset;  ///< DLTensor::byte_offset
};
inline constexpr std::uint64_t null_data = ~std::uint64_t{0};

/// Pages that the kernel may access. The runner maps `bytes` of the shared memory, from `memory_offset`, to the address
/// `place` bytes after the start of its address range. All else in that range is inaccessible.
struct mapped_piece {
  std::uint64_t place, bytes, memory_offset;
  std::uint64_t writable;
};
inline constexpr std::uint32_t most_pieces = 1024;

/// The most calls of a group, and the most threads that make them.
inline constexpr std::uint32_t most_together = 16;

/// A merge instead of attention: v is the O of the parts, [b, hq·n, S, dv], and bias their LSE, [b, hq·n, 1, S].
struct merge_shape {
  std::uint32_t asked,
      odd_rows_are_one;  ///< the odd parts have the same numbers in every row, and stride 0 between rows
  std::int64_t heads, queries;
};
inline constexpr std::int64_t most_parts = 4096;

/// To the runner: a request to call the kernel. Only the first piece_count pieces are sent.
///
/// Calls whose messages announce each other are a group: they lie in one address range, which stays mapped until the
/// last of them has returned, and are answered after that, in the order of the messages.
struct call_message {
  std::uint32_t magic;
  std::int32_t threads;
  std::uint32_t following;  ///< further messages of the group
  std::uint32_t caller;     ///< which thread of the runner makes the call: 0 … most_together − 1, without gaps
  double repeat_seconds;    ///< the call is repeated for so long, until its outputs change
  std::uint64_t sequence;
  std::uint64_t range_bytes;  ///< of the address range that holds all pieces and the inaccessible pages, of the group
                              ///< so far
  problem::parameters parameters;
  merge_shape merge;
  tensor_slot slots[slot_count];
  std::uint64_t piece_count;
  mapped_piece pieces[most_pieces];
};

/// The bytes of a message with so many pieces.
inline std::size_t bytes_with(std::uint64_t piece_count) noexcept {
  return offsetof(call_message, pieces) + static_cast<std::size_t>(piece_count) * sizeof(mapped_piece);
}

/// The most bytes of text that a kernel says of a call.
inline constexpr std::size_t said_bytes = 400;
/// What is said of a call if the library has no function for it.
inline constexpr char no_attention_said[] = "it has no attest_attention";
inline constexpr char no_backward_said[] = "it has no attest_attention_backward";
/// In front of the text of a call that failed, if the kernel may have refused it. It is not quoted.
inline constexpr char refusal_mark = '\x01';

/// From the runner, after the call.
struct reply_message {
  std::uint32_t magic;  ///< no_memory_magic, no_range_magic, no_thread_magic: the tensors could not be mapped, no
                        ///< address range of this size reserved, no thread started; the kernel was not called
  std::int32_t status;  ///< as the kernel returned it
  std::uint64_t sequence;
  double seconds;  ///< inside the kernel, in all repetitions
  std::uint32_t environment_changed, descriptors_changed;
  std::uint32_t outputs_changed;  ///< after the call had returned, by a later call of the same thread
  std::uint32_t alone;            ///< a backward pass that runs a forward pass of its own
  char text[said_bytes];          ///< text of the kernel about the call (attest_serve_say), or empty
};

/// At the start of the shared memory, written by the signal handler of the runner.
struct crash_note {
  enum access_kind : std::uint32_t { unknown, reads, writes };
  std::uint32_t magic;
  access_kind access;
  std::uint64_t sequence;
  std::int64_t address;  ///< of the invalid access, relative to the start of the address range
};

static_assert(std::is_trivially_copyable_v<filter_message> && std::is_trivially_copyable_v<caged_message> &&
                  std::is_trivially_copyable_v<hello_message> && std::is_trivially_copyable_v<call_message> &&
                  std::is_trivially_copyable_v<reply_message> && std::is_trivially_copyable_v<crash_note>,
              "messages cross a process boundary as bytes");

}  // namespace attest::audit::runner

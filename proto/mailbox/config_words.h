// SPDX-License-Identifier: Apache-2.0
//
// Groups and control blocks as 64-bit words (README.md, "CONFIG").
//   const std::vector<uint64_t> words = WordsOf(VmControl{.pinned = 0b1});     // words[7] is 1
//   if (std::optional<VmControl> vm = FromWords<VmControl>(words)) Use(*vm);
#ifndef SIDEBAND_PROTO_MAILBOX_CONFIG_WORDS_H_
#define SIDEBAND_PROTO_MAILBOX_CONFIG_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/mailbox/gate_controls.h"

namespace sideband::mailbox {

// Words of a block.
template <typename Block>
inline constexpr size_t kWords = 0;
template <>
inline constexpr size_t kWords<GateGroup> = 1;
template <>
inline constexpr size_t kWords<VmControl> = 8;
template <>
inline constexpr size_t kWords<ContextControl> = 2;
template <>
inline constexpr size_t kWords<HostControl> = 3;

std::vector<uint64_t> WordsOf(const GateGroup& group);
std::vector<uint64_t> WordsOf(const VmControl& vm);
std::vector<uint64_t> WordsOf(const ContextControl& context);
std::vector<uint64_t> WordsOf(const HostControl& host);

// `words` must have kWords<Block> elements. nullopt: a bit that has no meaning is set.
template <typename Block>
std::optional<Block> FromWords(std::span<const uint64_t> words);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CONFIG_WORDS_H_

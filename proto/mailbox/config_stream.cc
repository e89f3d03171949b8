// SPDX-License-Identifier: Apache-2.0
//
// The stream of DUMP.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr size_t kSelectionWordsMax = kEventsMax / 64;

absl::Status MalformedConfig(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("configuration: ", what));
}

void Write(const std::vector<uint64_t>& words, ByteWriter& out) {
  for (const uint64_t word : words) out.U64(word);
}

std::vector<uint64_t> ReadWords(ByteReader& in, size_t size) {
  std::vector<uint64_t> words(size);
  for (uint64_t& word : words) word = in.U64();
  return words;
}

template <typename Control>
absl::Status Read(ByteReader& in, Control& control) {
  const std::optional<Control> read = FromWords<Control>(ReadWords(in, kWords<Control>));
  if (!in.ok()) return MalformedConfig("truncated");
  if (!read) return MalformedConfig("a reserved bit is set");
  control = *read;
  return absl::OkStatus();
}

absl::Status ReadSlices(ByteReader& in, CountingConfig& config) {
  const size_t slices = in.U8(), groups = in.U8();
  if (slices > kSlicesMax) return MalformedConfig("too many slices");
  if (groups > kGateGroupsMax) return MalformedConfig("too many gate groups");
  config.groups.assign(slices, std::vector<GateGroup>(groups));
  config.hosts.resize(slices);
  for (size_t slice = 0; slice < slices; ++slice) {
    for (GateGroup& group : config.groups[slice]) SIDEBAND_RETURN_IF_ERROR(Read(in, group));
    SIDEBAND_RETURN_IF_ERROR(Read(in, config.hosts[slice]));
  }
  return absl::OkStatus();
}

absl::Status ReadVms(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U16();
  if (size > kVmsMax) return MalformedConfig("too many VMs");
  for (size_t i = 0; i < size; ++i) {
    const auto [vm, is_new] = config.vms.try_emplace(in.U16());
    SIDEBAND_RETURN_IF_ERROR(Read(in, vm->second));
    if (!is_new) return MalformedConfig("a VM is there twice");
  }
  return absl::OkStatus();
}

absl::Status ReadContexts(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U16();
  if (size > kContextsMax) return MalformedConfig("too many contexts");
  for (size_t i = 0; i < size; ++i) {
    const uint16_t vm = in.U16(), context = in.U16();
    const auto [entry, is_new] = config.contexts.try_emplace({vm, context});
    SIDEBAND_RETURN_IF_ERROR(Read(in, entry->second));
    if (!is_new) return MalformedConfig("a context is there twice");
  }
  return absl::OkStatus();
}

absl::Status ReadSelections(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U8(), words = in.U8();
  if (size > kSelectionsMax) return MalformedConfig("too many selections");
  if (words > kSelectionWordsMax) return MalformedConfig("a selection of too many events");
  for (size_t i = 0; i < size; ++i) config.selections.push_back(ReadWords(in, words));
  return in.ok() ? absl::OkStatus() : MalformedConfig("truncated");
}

}  // namespace

Bytes EncodeConfigStream(uint64_t boot_id, const CountingConfig& config) {
  ByteWriter out;
  out.U32(config.revision);
  out.U8(static_cast<uint8_t>(config.groups.size()));
  out.U8(static_cast<uint8_t>(config.groups.empty() ? 0 : config.groups[0].size()));
  for (size_t slice = 0; slice < config.groups.size(); ++slice) {
    for (const GateGroup& group : config.groups[slice]) Write(WordsOf(group), out);
    Write(WordsOf(config.hosts[slice]), out);
  }
  out.U16(static_cast<uint16_t>(config.vms.size()));
  for (const auto& [vm, control] : config.vms) {
    out.U16(vm);
    Write(WordsOf(control), out);
  }
  out.U16(static_cast<uint16_t>(config.contexts.size()));
  for (const auto& [key, control] : config.contexts) {
    out.U16(key.first);
    out.U16(key.second);
    Write(WordsOf(control), out);
  }
  out.U8(static_cast<uint8_t>(config.selections.size()));
  out.U8(static_cast<uint8_t>(config.selections.empty() ? 0 : config.selections[0].size()));
  for (const EventSet& events : config.selections) Write(events, out);
  return EncodeStream({.kind = StreamKind::kConfig, .boot_id = boot_id}, out.written());
}

absl::StatusOr<CountingConfig> DecodeConfigStream(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kConfig || stream.header.framing != Framing::kPlain) {
    return MalformedConfig("wrong kind of stream");
  }
  ByteReader in(stream.payload);
  CountingConfig config{.revision = in.U32()};
  SIDEBAND_RETURN_IF_ERROR(ReadSlices(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadVms(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadContexts(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadSelections(in, config));
  if (in.remaining() != 0) return MalformedConfig("bytes after the end");
  return config;
}

}  // namespace sideband::mailbox

// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

const RotationPlan* Find(const std::vector<RotationPlan>& plans, uint16_t number) {
  const auto plan = std::find_if(plans.begin(), plans.end(), [&](const auto& each) { return each.number == number; });
  return plan == plans.end() ? nullptr : &*plan;
}

uint64_t RunningOf(const RotationPart& part, const RotationPlan& plan, size_t event, size_t column) {
  uint64_t running = 0;
  for (size_t set = 0; set < plan.sets.size(); ++set) {
    const size_t at = set * part.enabled.size() + column;
    if (at < part.running.size() && Includes(plan.sets[set], event)) running += part.running[at];
  }
  return running;
}

bool IsOfDevice(const std::vector<RotationPlan>& plans, size_t event) {
  return std::any_of(plans.begin(), plans.end(), [&](const RotationPlan& plan) {
    const auto includes = [&](const EventSet& set) { return Includes(set, event); };
    return plan.of_device && std::any_of(plan.sets.begin(), plan.sets.end(), includes);
  });
}

}  // namespace

size_t Passes(size_t sets, size_t sets_per_pass) {
  if (sets_per_pass == 0 || sets_per_pass >= sets) return 1;
  return 1 + (sets - 1 + sets_per_pass - 1) / sets_per_pass;
}

RotationTime TimeOf(const BlockRotation& numbers, const std::vector<RotationPlan>& plans, size_t event,
                    std::optional<size_t> gate_group) {
  const size_t column = gate_group ? 1 + *gate_group : 0;
  const bool of_device = IsOfDevice(plans, event);
  RotationTime time;
  for (const RotationPart& part : numbers.parts) {
    const RotationPlan* const plan = Find(plans, part.plan);
    const bool is_of_scope = (plan != nullptr && plan->of_device) == of_device;
    if (column >= part.enabled.size() || !is_of_scope) continue;
    time.enabled += part.enabled[column];
    if (plan != nullptr) time.running += RunningOf(part, *plan, event, column);
  }
  return time;
}

uint64_t ForgottenRunning(const BlockRotation& numbers, std::optional<size_t> gate_group) {
  const size_t column = gate_group ? 1 + *gate_group : 0;
  const auto part = std::find_if(numbers.parts.begin(), numbers.parts.end(),
                                 [](const RotationPart& each) { return each.plan == kForgottenPlan; });
  return part == numbers.parts.end() || column >= part->running.size() ? 0 : part->running[column];
}

namespace {

// `in` as it is after the last field.
absl::Status Complete(const ByteReader& in) { return in.ok() ? absl::OkStatus() : MalformedRotation("truncated"); }

absl::Status DecodeMembers(ByteReader& in, size_t events, std::vector<uint16_t>& members) {
  const size_t size = in.U16();
  if (size == 0 || size > events) return MalformedRotation("a relation has no members, or too many");
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint16_t event = in.U16();
    if (event >= events) return MalformedRotation("an event does not exist");
    if (!members.empty() && event <= members.back()) return MalformedRotation("events do not ascend");
    members.push_back(event);
  }
  return Complete(in);
}

absl::Status DecodeWeights(ByteReader& in, size_t events, RotationSettings& settings) {
  const size_t size = in.U16();
  if (size > events) return MalformedRotation("too many weights");
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint16_t event = in.U16();
    if (event >= events) return MalformedRotation("an event does not exist");
    if (!settings.weights.empty() && event <= settings.weights.rbegin()->first) {
      return MalformedRotation("events do not ascend");
    }
    settings.weights[event] = in.U32();
  }
  return Complete(in);
}

// Whether the fields that other kinds of relations have are as these leave them.
absl::Status CheckKind(const Relation& relation, size_t events) {
  switch (relation.kind) {
    case Relation::Kind::kCycles:
      return relation.times >= 1 && relation.whole == 0 ? absl::OkStatus()
                                                        : MalformedRotation("an impossible sum of cycles");
    case Relation::Kind::kSum:
      return relation.whole < events ? absl::OkStatus() : MalformedRotation("an event does not exist");
    case Relation::Kind::kAtMost:
      if (relation.members.size() != 1) return MalformedRotation("a bound has several events");
      return relation.whole < events ? absl::OkStatus() : MalformedRotation("an event does not exist");
  }
  return MalformedRotation("a relation of an unknown kind");
}

absl::Status DecodePlans(ByteReader& in, size_t events, std::vector<RotationPlan>& plans) {
  const size_t size = in.U16();
  if (size > kPlansMax) return MalformedRotation("too many plans");
  size_t sets = 0;
  for (size_t i = 0; i < size; ++i) {
    RotationPlan plan;
    SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan));
    sets += plan.of_device ? 0 : plan.sets.size();
    if (sets > kRotationSetsMax) return MalformedRotation("too many counter sets");
    if (!plans.empty() && plan.number <= plans.back().number) return MalformedRotation("plans do not ascend");
    plans.push_back(std::move(plan));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MalformedRotation(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("rotation: ", what));
}

void Encode(const EventSet& events, ByteWriter& out) {
  out.U16(static_cast<uint16_t>(events.size()));
  for (const uint64_t word : events) out.U64(word);
}

void Encode(const RotationSettings& settings, ByteWriter& out) {
  out.U8(static_cast<uint8_t>(settings.profile));
  out.U64(settings.stable_slot);
  out.U64(settings.fluctuating_slot);
  out.U64(settings.interval);
  out.U32(settings.threshold_per_mille);
  out.U32(settings.step);
  out.U32(settings.sets_per_pass);
  out.U8(settings.adapt ? 1 : 0);
  out.U16(static_cast<uint16_t>(settings.weights.size()));
  for (const auto& [event, weight] : settings.weights) {
    out.U16(event);
    out.U32(weight);
  }
}

void Encode(const RotationPlan& plan, ByteWriter& out) {
  out.U16(plan.number);
  out.U8(plan.of_device ? 1 : 0);
  Encode(plan.settings, out);
  Encode(plan.derived, out);
  out.U8(static_cast<uint8_t>(plan.sets.size()));
  for (const EventSet& set : plan.sets) Encode(set, out);
}

void Encode(const Relation& relation, ByteWriter& out) {
  out.U8(static_cast<uint8_t>(relation.kind));
  out.U16(relation.whole);
  out.U32(relation.times);
  out.U16(static_cast<uint16_t>(relation.members.size()));
  for (const uint16_t event : relation.members) out.U16(event);
}

absl::Status Decode(ByteReader& in, size_t events, EventSet& set) {
  const size_t words = in.U16();
  if (words > EmptySet(events).size()) return MalformedRotation("a set of too many events");
  for (size_t word = 0; word < words; ++word) {
    set.push_back(in.U64());
    const size_t end = word * kEventSetWord + static_cast<size_t>(std::bit_width(set.back()));
    if (end > events && set.back() != 0) return MalformedRotation("an event does not exist");
  }
  return Complete(in);
}

absl::Status Decode(ByteReader& in, size_t events, RotationSettings& settings) {
  const uint8_t profile = in.U8();
  if (profile > static_cast<uint8_t>(RotationProfile::kTwoSet)) return MalformedRotation("an unknown profile");
  settings.profile = static_cast<RotationProfile>(profile);
  settings.stable_slot = in.U64();
  settings.fluctuating_slot = in.U64();
  settings.interval = in.U64();
  settings.threshold_per_mille = in.U32();
  settings.step = in.U32();
  settings.sets_per_pass = in.U32();
  const uint8_t adapt = in.U8();
  if (adapt > 1) return MalformedRotation("adapts in an unknown way");
  settings.adapt = adapt == 1;
  return DecodeWeights(in, events, settings);
}

absl::Status Decode(ByteReader& in, size_t events, RotationPlan& plan) {
  plan.number = in.U16();
  const uint8_t of_device = in.U8();
  if (of_device > 1) return MalformedRotation("a plan of an unknown scope");
  plan.of_device = of_device == 1;
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan.settings));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan.derived));
  const size_t sets = in.U8();
  if (sets == 0 || sets > kRotationSetsMax) return MalformedRotation("no counter sets, or too many");
  for (size_t set = 0; set < sets; ++set) SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan.sets.emplace_back()));
  return Complete(in);
}

absl::Status Decode(ByteReader& in, size_t events, Relation& relation) {
  relation.kind = static_cast<Relation::Kind>(in.U8());
  relation.whole = in.U16();
  relation.times = in.U32();
  SIDEBAND_RETURN_IF_ERROR(DecodeMembers(in, events, relation.members));
  return CheckKind(relation, events);
}

Bytes EncodeRotations(const std::vector<Relation>& relations, const std::vector<RotationPlan>& plans) {
  ByteWriter out;
  out.U16(static_cast<uint16_t>(relations.size()));
  for (const Relation& relation : relations) Encode(relation, out);
  out.U16(static_cast<uint16_t>(plans.size()));
  for (const RotationPlan& plan : plans) Encode(plan, out);
  return std::move(out).Take();
}

absl::Status DecodeRotations(ByteSpan payload, size_t events, std::vector<Relation>& relations,
                             std::vector<RotationPlan>& plans) {
  ByteReader in(payload);
  const size_t size = in.U16();
  if (size > kRelationsMax) return MalformedRotation("too many relations");
  for (size_t i = 0; i < size; ++i) SIDEBAND_RETURN_IF_ERROR(Decode(in, events, relations.emplace_back()));
  SIDEBAND_RETURN_IF_ERROR(DecodePlans(in, events, plans));
  SIDEBAND_RETURN_IF_ERROR(Complete(in));
  return in.remaining() == 0 ? absl::OkStatus() : MalformedRotation("bytes after the end");
}

namespace {

absl::Status DecodeContexts(ByteReader& in, std::vector<uint16_t>& contexts) {
  const size_t size = in.U16();
  if (size > kContextsMax) return MalformedRotation("too many contexts");
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint16_t context = in.U16();
    if (context == kNoContext) return MalformedRotation("a context has no number");
    if (!contexts.empty() && context <= contexts.back()) return MalformedRotation("contexts do not ascend");
    contexts.push_back(context);
  }
  return in.ok() ? absl::OkStatus() : MalformedRotation("truncated");
}

}  // namespace

Bytes EncodeRotationRequest(const RotationRequest& request) {
  ByteWriter out;
  out.U16(request.vm);
  out.U16(static_cast<uint16_t>(request.contexts.size()));
  for (const uint16_t context : request.contexts) out.U16(context);
  Encode(request.settings, out);
  Encode(request.events, out);
  Encode(request.always, out);
  return std::move(out).Take();
}

absl::StatusOr<RotationRequest> DecodeRotationRequest(ByteSpan bytes, size_t events) {
  ByteReader in(bytes);
  RotationRequest request{.vm = in.U16()};
  SIDEBAND_RETURN_IF_ERROR(DecodeContexts(in, request.contexts));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.settings));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.events));
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, request.always));
  if (in.remaining() != 0) return MalformedRotation("bytes after the end");
  return request;
}

Bytes EncodePlanStream(uint64_t boot_id, uint32_t scope, const RotationPlan& plan) {
  ByteWriter out;
  Encode(plan, out);
  return EncodeStream({.kind = StreamKind::kPlan, .boot_id = boot_id, .snapshot_id = scope}, out.written());
}

absl::StatusOr<RotationPlan> DecodePlanStream(ByteSpan bytes, uint32_t scope, size_t events) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kPlan || stream.header.framing != Framing::kPlain) {
    return MalformedRotation("wrong kind of stream");
  }
  if (stream.header.snapshot_id != scope) return absl::AbortedError("rotation: the plan of another scope");
  ByteReader in(stream.payload);
  RotationPlan plan;
  SIDEBAND_RETURN_IF_ERROR(Decode(in, events, plan));
  if (in.remaining() != 0) return MalformedRotation("bytes after the end");
  return plan;
}

}  // namespace sideband::mailbox

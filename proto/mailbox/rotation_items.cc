// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_items.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
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

}  // namespace sideband::mailbox

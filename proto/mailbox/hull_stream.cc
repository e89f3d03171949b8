// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/hull_stream.h"

#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr uint32_t kVertexBits = 6;  // of their number less one
constexpr uint32_t kTriggerBits = 32;

// A difference of instants modulo 2^128 with its sign in the lowest bit, as two numbers.
void WriteDifference(absl::uint128 difference, BitWriter& out) {
  const absl::uint128 code = difference << 1 ^ (0 - (difference >> 127));
  out.Number(absl::Uint128High64(code));
  out.Number(absl::Uint128Low64(code));
}

absl::uint128 ReadDifference(BitReader& in) {
  const uint64_t high = in.Number();
  const absl::uint128 code = absl::MakeUint128(high, in.Number());
  return code >> 1 ^ (0 - (code & 1));
}

// What is expected of the vertices of one hull: the clock goes on as from the vertex before to the last one. The first
// of a segment are expected to go on as the clock has gone since boot. Any values will do: arithmetic is modulo 2^128.
class ExpectedInstants {
 public:
  explicit ExpectedInstants(const HullVertex& start) : last_(start) {}

  absl::uint128 At(uint64_t edge) const {
    const uint64_t edges = last_.edge - before_.edge;
    const absl::uint128 last(last_.instant);
    if (edges == 0) return last;
    return last + (last - absl::uint128(before_.instant)) * (edge - last_.edge) / edges;
  }
  void Add(const HullVertex& vertex) {
    // The first packet's vertex differs from the segment's start by a part of its bar, which is no direction.
    if (vertex.edge != last_.edge) before_ = last_;
    last_ = vertex;
  }
  uint64_t last_edge() const { return last_.edge; }

 private:
  HullVertex before_, last_;
};

void WriteVertices(const HullVertex& start, const std::vector<HullVertex>& vertices, BitWriter& out) {
  out.Bits(vertices.size() - 1, kVertexBits);
  ExpectedInstants expected(start);
  for (const HullVertex& vertex : vertices) {
    out.Number(vertex.edge - expected.last_edge());
    WriteDifference(absl::uint128(vertex.instant) - expected.At(vertex.edge), out);
    expected.Add(vertex);
  }
}

void Write(const ClockHull& hull, BitWriter& out) {
  out.Bits(hull.domain, kDomainNumberBits);
  out.Bits(hull.first_trigger_id, kTriggerBits);
  out.Bits(hull.last_trigger_id, kTriggerBits);
  out.Number(hull.start.edge);
  WriteDifference(absl::uint128(hull.start.instant), out);
  out.Number(hull.packets);
  out.Number(hull.first_length);
  WriteVertices(hull.start, hull.lower, out);
  WriteVertices(hull.start, hull.upper, out);
}

absl::Status ReadVertices(BitReader& in, const HullVertex& start, std::vector<HullVertex>& vertices) {
  const size_t size = in.Bits(kVertexBits) + 1;
  ExpectedInstants expected(start);
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint64_t edges = in.Number(), edge = expected.last_edge() + edges;
    // The first may be at the segment's start.
    const bool ascends = edge >= expected.last_edge() && (edges != 0 || i == 0);
    if (in.ok() && !ascends) return MalformedClocks("vertices do not ascend");
    vertices.push_back({edge, absl::int128(expected.At(edge) + ReadDifference(in))});
    expected.Add(vertices.back());
  }
  return in.ok() ? absl::OkStatus() : MalformedClocks("truncated hulls");
}

absl::Status Read(BitReader& in, ClockHull& hull) {
  hull.domain = static_cast<uint8_t>(in.Bits(kDomainNumberBits));
  hull.first_trigger_id = static_cast<uint32_t>(in.Bits(kTriggerBits));
  hull.last_trigger_id = static_cast<uint32_t>(in.Bits(kTriggerBits));
  hull.start.edge = in.Number();
  hull.start.instant = absl::int128(ReadDifference(in));
  hull.packets = in.Number();
  hull.first_length = in.Number();
  SIDEBAND_RETURN_IF_ERROR(ReadVertices(in, hull.start, hull.lower));
  return ReadVertices(in, hull.start, hull.upper);
}

absl::Status ReadHulls(BitReader& in, size_t size, size_t domains, std::vector<ClockHull>& hulls) {
  if (size > domains) return MalformedClocks("more hulls than domains");
  for (size_t i = 0; i < size; ++i) {
    ClockHull hull;
    SIDEBAND_RETURN_IF_ERROR(Read(in, hull));
    if (hull.domain >= domains) return MalformedClocks("a hull of an unknown domain");
    if (!hulls.empty() && hull.domain <= hulls.back().domain) return MalformedClocks("domains of hulls do not ascend");
    hulls.push_back(std::move(hull));
  }
  return in.AtEnd() ? absl::OkStatus() : MalformedClocks("bits after the hulls");
}

}  // namespace

Bytes EncodeHullStream(const ClockHulls& hulls) {
  ByteWriter out;
  out.U8(static_cast<uint8_t>(hulls.hulls.size()));
  BitWriter bits;
  for (const ClockHull& hull : hulls.hulls) Write(hull, bits);
  out.Raw(std::move(bits).Take());
  return EncodeStream({.kind = StreamKind::kHulls, .boot_id = hulls.boot_id, .snapshot_id = hulls.first_trigger_id},
                      out.written());
}

absl::StatusOr<ClockHulls> DecodeHullStream(ByteSpan bytes, uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  const StreamHeader& header = stream.header;
  if (header.kind != StreamKind::kHulls || header.framing != Framing::kPlain || header.base_id != 0) {
    return MalformedClocks("not hulls");
  }
  if (header.snapshot_id != first_trigger_id) return absl::AbortedError("clocks: hulls from another trigger on");
  if (stream.payload.empty()) return MalformedClocks("truncated hulls");
  ClockHulls hulls{.boot_id = header.boot_id, .first_trigger_id = first_trigger_id};
  BitReader in(stream.payload.subspan(1));
  SIDEBAND_RETURN_IF_ERROR(ReadHulls(in, stream.payload[0], domains, hulls.hulls));
  return hulls;
}

}  // namespace sideband::mailbox

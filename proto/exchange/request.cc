// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/request.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/exchange/digest.h"
#include "proto/exchange/read_into.h"

namespace sideband::exchange {
namespace {

using attestation::EvidenceKind;

constexpr uint8_t kRequestMagic[] = {'S', 'B', 'X', 'Q'};
constexpr uint8_t kRequestVersion = 1;
constexpr size_t kKindBytes = sizeof(kRequestMagic) + 4;

absl::Status MalformedRequest(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("exchange request: ", why));
}

// Everything but the evidence and its length.
void WriteBound(const ExchangeRequest& request, ByteWriter& out) {
  out.Raw(kRequestMagic);
  out.U8(kRequestVersion);
  out.U8(envelope::kSuiteHpke);
  out.U16(static_cast<uint16_t>(request.kind));
  out.Raw(request.device.bytes);
  out.Raw(request.vm.bytes);
  out.Raw(request.public_key);
  out.Raw(request.nonce);
  out.Raw(request.challenge);
}

absl::StatusOr<EvidenceKind> ReadEvidenceKind(ByteReader& in) {
  if (!std::ranges::equal(in.Raw(sizeof(kRequestMagic)), kRequestMagic)) return MalformedRequest("no such thing");
  if (in.U8() != kRequestVersion) return MalformedRequest("of an unknown version");
  if (in.U8() != envelope::kSuiteHpke) return MalformedRequest("of another suite");
  const auto kind = static_cast<EvidenceKind>(in.U16());
  if (kind != EvidenceKind::kTest && kind != EvidenceKind::kSevSnp)
    return MalformedRequest("with an unknown kind of evidence");
  return kind;
}

}  // namespace

Bytes EncodeRequest(const ExchangeRequest& request) {
  ByteWriter out;
  WriteBound(request, out);
  out.U32(static_cast<uint32_t>(request.evidence.size()));
  out.Raw(request.evidence);
  return std::move(out).Take();
}

absl::StatusOr<ExchangeRequest> ParseRequest(ByteSpan bytes) {
  if (bytes.size() > kRequestBytesMax) return MalformedRequest("too long");
  ByteReader in(bytes);
  ExchangeRequest request;
  SIDEBAND_ASSIGN_OR_RETURN(request.kind, ReadEvidenceKind(in));
  if (in.remaining() < kRequestFixedBytes - kKindBytes) return MalformedRequest("truncated");
  ReadInto(in, request.device.bytes);
  ReadInto(in, request.vm.bytes);
  ReadInto(in, request.public_key);
  ReadInto(in, request.nonce);
  ReadInto(in, request.challenge);
  if (in.U32() != in.remaining()) return MalformedRequest("of another size than its evidence");
  if (request.nonce == envelope::GuestNonce{}) return MalformedRequest("without a nonce");
  const ByteSpan evidence = in.Raw(in.remaining());
  request.evidence.assign(evidence.begin(), evidence.end());
  return request;
}

absl::StatusOr<ReportData> ReportDataOf(const ExchangeRequest& request) {
  ByteWriter out;
  static const std::string kLabel = "sideband/2 evidence";
  out.Raw(AsBytes(kLabel));
  WriteBound(request, out);
  return Sha512(out.written());
}

}  // namespace sideband::exchange

// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/statement.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "proto/exchange/read_into.h"

namespace sideband::exchange {
namespace {

constexpr uint8_t kStatementMagic[] = {'S', 'B', 'X', 'S'};
constexpr uint8_t kStatementVersion = 1;

absl::Status MalformedAnswer(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("exchange answer: ", why));
}

absl::StatusOr<SealerKind> ReadSealerKind(ByteReader& in) {
  if (!std::ranges::equal(in.Raw(sizeof(kStatementMagic)), kStatementMagic)) return MalformedAnswer("no such thing");
  if (in.U8() != kStatementVersion) return MalformedAnswer("of an unknown version");
  if (in.U8() != envelope::kSuiteHpke) return MalformedAnswer("of another suite");
  const auto sealer = static_cast<SealerKind>(in.U8());
  if (in.U8() != 0 || (sealer != SealerKind::kDaemon && sealer != SealerKind::kDevice)) {
    return MalformedAnswer("of an unknown kind of sealer");
  }
  return sealer;
}

void Labelled(absl::string_view label, ByteSpan bytes, ByteWriter& out) {
  out.Raw({reinterpret_cast<const uint8_t*>(label.data()), label.size()});
  out.Raw(bytes);
}

ByteSpan Sized16(ByteReader& in) { return in.Raw(in.U16()); }

}  // namespace

const char* SealerName(SealerKind kind) { return kind == SealerKind::kDevice ? "device" : "daemon"; }

Bytes EncodeStatement(const Statement& statement) {
  ByteWriter out;
  out.Raw(kStatementMagic);
  out.U8(kStatementVersion);
  out.U8(envelope::kSuiteHpke);
  out.U8(static_cast<uint8_t>(statement.sealer));
  out.U8(0);
  out.Raw(statement.device.bytes);
  out.U64(statement.boot_id);
  out.Raw(statement.vm.bytes);
  out.U32(statement.generation);
  out.Raw(statement.enc);
  out.Raw(statement.measurement);
  out.Raw(statement.request);
  out.U16(static_cast<uint16_t>(statement.events.size()));
  for (const std::string& event : statement.events) out.String(event);
  return std::move(out).Take();
}

absl::StatusOr<Statement> ParseStatement(ByteSpan bytes) {
  ByteReader in(bytes);
  Statement statement;
  SIDEBAND_ASSIGN_OR_RETURN(statement.sealer, ReadSealerKind(in));
  ReadInto(in, statement.device.bytes);
  statement.boot_id = in.U64();
  ReadInto(in, statement.vm.bytes);
  statement.generation = in.U32();
  ReadInto(in, statement.enc);
  ReadInto(in, statement.measurement);
  ReadInto(in, statement.request);
  const size_t events = in.U16();
  if (events > kStatementEventsMax) return MalformedAnswer("too many events");
  for (size_t i = 0; i < events && in.ok(); ++i) statement.events.push_back(in.String());
  if (!in.ok() || in.remaining() != 0) return MalformedAnswer("a statement of a wrong length");
  return statement;
}

Bytes EncodeAnswer(ByteSpan statement, const std::vector<Bytes>& certificates, ByteSpan signature) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(statement.size()));
  out.Raw(statement);
  out.U8(static_cast<uint8_t>(certificates.size()));
  for (const Bytes& certificate : certificates) {
    out.U16(static_cast<uint16_t>(certificate.size()));
    out.Raw(certificate);
  }
  out.U16(static_cast<uint16_t>(signature.size()));
  out.Raw(signature);
  return std::move(out).Take();
}

absl::StatusOr<AnswerView> ParseAnswer(ByteSpan bytes) {
  if (bytes.size() > kAnswerBytesMax) return MalformedAnswer("too long");
  ByteReader in(bytes);
  AnswerView answer;
  answer.statement = in.Raw(in.U32());
  const size_t certificates = in.U8();
  if (certificates == 0 || certificates > kCertificatesMax) return MalformedAnswer("no such number of certificates");
  for (size_t i = 0; i < certificates; ++i) answer.certificates.push_back(Sized16(in));
  answer.signature = Sized16(in);
  if (!in.ok() || in.remaining() != 0) return MalformedAnswer("of a wrong length");
  return answer;
}

Bytes HpkeInfo(const Sha256Digest& request) {
  ByteWriter out;
  Labelled("sideband/2 exchange", request, out);
  return std::move(out).Take();
}

absl::StatusOr<Bytes> ExportContext(ByteSpan statement) {
  SIDEBAND_ASSIGN_OR_RETURN(const Sha256Digest digest, Sha256(statement));
  ByteWriter out;
  Labelled("sideband/2 root", digest, out);
  return std::move(out).Take();
}

}  // namespace sideband::exchange

// SPDX-License-Identifier: Apache-2.0
//
// A whole exchange: the request of a genuine guest, changed on its way to the sealer. The sealer answers nothing but
// what the guest's processor has signed, once; and the guest accepts no answer to another request than its own.
//   Input: changes of the request, one after the other: a byte for the kind (modulo 4), where (two bytes), and a byte.
//   Kind 0: xor with the byte. 1: insert it. 2: remove one. 3: cut the request off there.
#include <algorithm>

#include "absl/time/clock.h"
#include "proto/attestation/snp_evidence.h"
#include "proto/exchange/exchange_fixture.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/guest_exchange.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/given_files.h"

namespace sideband::fuzz {
namespace {

using exchange::ExchangeFixture;
using exchange::GuestExchange;

enum : uint8_t { kXor, kInsert, kRemove, kCut, kKinds };
constexpr int kChangesMax = 64;
// A report binds these bytes of a request: all before the length of the evidence.
constexpr size_t kBoundBytes = exchange::kRequestFixedBytes - 4;
// The request up to the certificates, which are no part of what is signed.
constexpr size_t kSignedEnd = exchange::kRequestFixedBytes + attestation::kSnpReportBytes;

// Both ends. The processor and the files are made once.
class Exchange {
 public:
  Exchange()
      : fixture_(folder_.path()),
        rules_(*exchange::SealingRules::Load(fixture_.sealing_file())),
        roots_(*CertificateRoots::Load({fixture_.root_file()})),
        exchanger_(rules_, {.sealer = exchange::SealerKind::kDevice}) {}

  GuestExchange Begin() {
    now_ += absl::Minutes(2);  // the challenges of other inputs are over
    return *GuestExchange::Begin({.device = ExchangeFixture::device(), .vm = ExchangeFixture::vm()},
                                 *exchanger_.Draw(ExchangeFixture::vm(), now_));
  }
  Bytes RequestOf(GuestExchange& guest) const { return *guest.Request(fixture_.Evidence(*guest.GetReportData())); }

  absl::StatusOr<exchange::Exchanged> Answer(ByteSpan request) {
    return exchanger_.Exchange(
        request, {.device = ExchangeFixture::device(), .boot_id = 11, .vm = ExchangeFixture::vm()}, now_, absl::Now());
  }
  absl::StatusOr<exchange::GuestKeys> Finish(const GuestExchange& guest, ByteSpan answer) const {
    return guest.Finish(answer, {.roots = &roots_}, absl::Now());
  }

 private:
  const ScratchFolder folder_;
  const ExchangeFixture fixture_;
  const exchange::SealingRules rules_;
  const CertificateRoots roots_;
  exchange::Exchanger exchanger_;
  absl::Duration now_;
};

void Change(uint8_t kind, size_t at, uint8_t byte, Bytes& request) {
  if (request.empty()) return;
  const auto place = request.begin() + static_cast<ptrdiff_t>(at % request.size());
  if (kind == kXor) *place ^= byte;
  if (kind == kInsert) request.insert(place, byte);
  if (kind == kRemove) request.erase(place);
  if (kind == kCut) request.erase(place, request.end());
}

Bytes Changed(ByteReader& in, Bytes request) {
  for (int i = 0; i < kChangesMax && in.remaining() > 0; ++i) {
    const uint8_t kind = in.U8() % kKinds;
    const size_t at = in.U16();
    Change(kind, at, in.U8(), request);
  }
  return request;
}

bool IsGenuine(ByteSpan request, ByteSpan sent) {
  const auto report = [](ByteSpan of) {
    return of.subspan(exchange::kRequestFixedBytes, attestation::kSnpReportBytes);
  };
  return request.size() >= kSignedEnd && std::ranges::equal(request.first(kBoundBytes), sent.first(kBoundBytes)) &&
         std::ranges::equal(report(request), report(sent));
}

void Check(ByteReader& in) {
  static Exchange exchange;
  GuestExchange guest = exchange.Begin();
  const Bytes sent = exchange.RequestOf(guest);
  const Bytes received = Changed(in, sent);
  const auto answer = exchange.Answer(received);
  FUZZ_CHECK(answer.ok() || received != sent);
  if (!answer.ok()) return;
  FUZZ_CHECK(IsGenuine(received, sent));
  FUZZ_CHECK(answer->claims.measurement == ExchangeFixture::measurement());
  FUZZ_CHECK(exchange.Finish(guest, answer->answer).ok() == (received == sent));
  FUZZ_CHECK(!exchange.Answer(received).ok());
}

Bytes ChangeOf(uint8_t kind, uint16_t at, uint8_t byte) {
  return {kind, static_cast<uint8_t>(at), static_cast<uint8_t>(at >> 8), byte};
}

std::vector<Bytes> Seeds() {
  return {{},
          ChangeOf(kXor, 40, 1),
          ChangeOf(kXor, exchange::kRequestFixedBytes + 0x90, 1),
          ChangeOf(kXor, kSignedEnd + 20, 1),  // the length of a certificate
          ChangeOf(kInsert, kSignedEnd + 100, 0),
          ChangeOf(kRemove, 139, 0),
          ChangeOf(kCut, 140, 0)};
}

int RunInput(const uint8_t* data, size_t size) {
  sideband::ByteReader in({data, size});
  Check(in);
  return 0;
}

FUZZ_TARGET(exchange_fuzz);

}  // namespace
}  // namespace sideband::fuzz

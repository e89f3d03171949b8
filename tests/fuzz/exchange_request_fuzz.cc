// SPDX-License-Identifier: Apache-2.0
//
// A guest's request for an exchange of keys. A request has one form: what was parsed has the same bytes again.
#include <algorithm>

#include "proto/exchange/messages.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

exchange::ExchangeRequest Request(attestation::EvidenceKind kind, size_t evidence_bytes) {
  exchange::ExchangeRequest request{.kind = kind, .evidence = Bytes(evidence_bytes, 5)};
  request.device.bytes.fill(1);
  request.vm.bytes.fill(2);
  request.public_key.fill(3);
  request.nonce.fill(4);
  request.challenge.fill(6);
  return request;
}

std::vector<Bytes> Seeds() {
  return {exchange::EncodeRequest(Request(attestation::EvidenceKind::kTest, 112)),
          exchange::EncodeRequest(Request(attestation::EvidenceKind::kSevSnp, 0)),
          exchange::EncodeRequest(Request(attestation::EvidenceKind::kSevSnp, 1300))};
}

int RunInput(const uint8_t* data, size_t size) {
  auto request = exchange::ParseRequest({data, size});
  if (!request.ok()) return 0;
  FUZZ_CHECK(size <= exchange::kRequestBytesMax && request->evidence.size() <= exchange::kEvidenceBytesMax);
  FUZZ_CHECK(std::ranges::any_of(request->nonce, [](uint8_t byte) { return byte != 0; }));
  FUZZ_CHECK(std::ranges::equal(exchange::EncodeRequest(*request), ByteSpan(data, size)));
  const auto bound = exchange::ReportDataOf(*request);
  request->evidence.push_back(1);
  FUZZ_CHECK(bound.ok() && *bound == *exchange::ReportDataOf(*request));  // known before there is evidence
  return 0;
}

FUZZ_TARGET(exchange_request_fuzz);

}  // namespace
}  // namespace sideband::fuzz

// SPDX-License-Identifier: Apache-2.0
//
// Sealed records for an opener from an untrusted carrier: forged, changed, repeated, of other streams. An accepted
// record is authentic, later than all before, and of the stream that the opener requested.
//   Input: a first byte, whose bit 0 is set if the opener expects a nonce. Then records: a byte for the kind of the
//   next record (modulo 3). Kind 0: a length (two bytes) and as many bytes. Kinds 1 and 2: the fields of a record that
//   the key's holder has sealed; for kind 2 a byte of it is then changed.
#include <optional>
#include <tuple>
#include <utility>

#include "client/lib/opener.h"
#include "proto/envelope/keys.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using envelope::RecordHeader;

enum : uint8_t { kRaw, kSealed, kChanged, kKinds };
constexpr uint8_t kWithNonce = 1 << 0;
// Limits the time of an input: each record takes some microseconds.
constexpr int kRecordsMax = 32;

envelope::Secret Key() { return envelope::Secret::Take(Bytes(envelope::kStaticKeyBytes, 7)); }

envelope::GuestNonce Nonce(uint8_t fill) {
  envelope::GuestNonce nonce;
  nonce.fill(fill);
  return nonce;
}

// Few values of each field, so that fields of different records coincide.
RecordHeader HeaderOf(ByteReader& in) {
  RecordHeader header;
  header.vm.bytes[0] = 1 + in.U8() % 2;
  header.device.bytes[0] = 1 + in.U8() % 2;
  header.boot_id = in.U8() % 3;
  header.generation = in.U8() % 3;
  header.epoch = in.U8();
  header.sequence = in.U8();
  const uint8_t nonce = in.U8() % 4;
  if (nonce != 0) header.guest_nonce = Nonce(nonce - 1);
  return header;
}

Bytes SealedRecord(const RecordHeader& header) {
  static const Bytes* const content = new Bytes{'c', 'o', 'u', 'n', 't', 's'};
  const auto keys = envelope::SessionKeys::Derive(Key(), envelope::KeyScope::Of(header));
  return *envelope::SealRecord(*keys, header, *content);
}

// The opener, and its properties.
class Checker {
 public:
  explicit Checker(std::optional<envelope::GuestNonce> nonce) : nonce_(nonce), opener_(Key(), {.nonce = nonce}) {}

  void Raw(ByteSpan record) { FUZZ_CHECK(!opener_.Open(record).ok()); }  // without the key no record is authentic

  void Sealed(const RecordHeader& header) {
    const auto opened = opener_.Open(SealedRecord(header));
    if (!opened.ok()) return;
    FUZZ_CHECK(opened->header == header);
    FUZZ_CHECK(!nonce_.has_value() || header.guest_nonce == nonce_);
    if (last_.has_value()) CheckFollows(*last_, header);
    last_ = header;
  }

  void Changed(const RecordHeader& header, uint32_t at, uint8_t change) {
    Bytes record = SealedRecord(header);
    record[at % record.size()] ^= change;
    FUZZ_CHECK(change == 0 || !opener_.Open(record).ok());
  }

 private:
  static void CheckFollows(const RecordHeader& last, const RecordHeader& next) {
    FUZZ_CHECK(next.vm == last.vm && next.device == last.device);
    FUZZ_CHECK(std::tie(next.epoch, next.sequence) > std::tie(last.epoch, last.sequence));
    FUZZ_CHECK(next.boot_id != last.boot_id || next.generation >= last.generation);
    FUZZ_CHECK(next.epoch != last.epoch || next.guest_nonce == last.guest_nonce);
  }

  const std::optional<envelope::GuestNonce> nonce_;
  client::Opener opener_;
  std::optional<RecordHeader> last_;
};

void Write(ByteWriter& out, uint8_t kind, uint8_t epoch, uint8_t sequence, uint8_t nonce) {
  for (const uint8_t byte : {kind, uint8_t{0}, uint8_t{0}, uint8_t{1}, uint8_t{1}, epoch, sequence, nonce})
    out.U8(byte);
}

std::vector<Bytes> Seeds() {
  ByteWriter shared, own, raw;
  shared.U8(0);
  own.U8(kWithNonce);
  raw.U8(0);
  for (uint8_t sequence = 0; sequence < 3; ++sequence) {
    Write(shared, kSealed, 5, sequence, 0);
    Write(own, kSealed, 5, sequence, 3);
  }
  Write(own, kChanged, 6, 0, 3);
  own.U32(100);
  own.U8(1);
  raw.U8(kRaw);
  const Bytes record = SealedRecord({.guest_nonce = Nonce(1)});
  raw.U16(static_cast<uint16_t>(record.size() - 1));
  raw.Raw(ByteSpan(record).first(record.size() - 1));
  return {std::move(shared).Take(), std::move(own).Take(), std::move(raw).Take()};
}

int RunInput(const uint8_t* data, size_t size) {
  sideband::ByteReader in({data, size});
  const bool with_nonce = (in.U8() & kWithNonce) != 0;
  Checker checker(with_nonce ? std::optional(Nonce(2)) : std::nullopt);
  for (int i = 0; i < kRecordsMax && in.ok() && in.remaining() > 0; ++i) {
    const uint8_t kind = in.U8() % kKinds;
    if (kind == kRaw) {
      checker.Raw(in.Raw(in.U16()));
      continue;
    }
    const sideband::envelope::RecordHeader header = HeaderOf(in);
    if (kind == kSealed) checker.Sealed(header);
    if (kind == kChanged) {
      const uint32_t at = in.U32();
      checker.Changed(header, at, in.U8());
    }
  }
  return 0;
}

FUZZ_TARGET(sealed_record_fuzz);

}  // namespace
}  // namespace sideband::fuzz

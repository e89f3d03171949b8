// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_certificates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/uuid.h"

namespace sideband::attestation {
namespace {

constexpr char kVcek[] = "63da758d-e664-4564-adc5-f4b93be8accd";
constexpr char kAsk[] = "4ab7b379-bbac-4fe4-a02f-05aef327c782";
constexpr char kVlek[] = "a8074bc2-a25a-483e-aae6-39c045a0b8a1";
constexpr char kEnd[] = "00000000-0000-0000-0000-000000000000";

const Bytes kVcekDer = {1, 2, 3}, kAskDer = {4, 5}, kArkDer = {6};

Bytes Copy(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

void AddEntry(const std::string& guid, uint32_t offset, uint32_t length, ByteWriter& out) {
  out.Raw(Uuid::Parse(guid)->bytes);
  out.U32(offset);
  out.U32(length);
}

TEST(CertificateTableTest, ComesBack) {
  const Bytes table = EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer, .ark = kArkDer});
  const auto parsed = ParseCertificateTable(table);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(Copy(parsed->vcek), kVcekDer);
  EXPECT_EQ(Copy(parsed->ask), kAskDer);
  EXPECT_EQ(Copy(parsed->ark), kArkDer);
}

// GUIDs are in the order of their text, as libuuid (AMD's sev-tool) and go-sev-guest write them.
TEST(CertificateTableTest, IsLaidOutAsSpecified) {
  ByteWriter expected;
  AddEntry(kVcek, 72, 3, expected);
  AddEntry(kAsk, 75, 2, expected);
  AddEntry(kEnd, 0, 0, expected);
  expected.Raw(kVcekDer);
  expected.Raw(kAskDer);
  EXPECT_EQ(EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer}), Copy(expected.written()));
}

TEST(CertificateTableTest, EveryCutIsRefused) {
  const Bytes table = EncodeCertificateTable({.vcek = kVcekDer, .ask = kAskDer, .ark = kArkDer});
  for (size_t size = 0; size < table.size(); ++size) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseCertificateTable(ByteSpan(table).first(size)).status())) << size;
  }
}

TEST(CertificateTableTest, EntriesAreBounded) {
  for (const size_t entries : {size_t{0}, kTableEntriesMax, kTableEntriesMax + 1}) {
    ByteWriter table;
    for (size_t i = 0; i < entries; ++i) AddEntry(kVlek, 0, 24, table);
    AddEntry(kEnd, 0, 0, table);
    EXPECT_EQ(ParseCertificateTable(table.written()).ok(), entries <= kTableEntriesMax) << entries;
  }
}

TEST(CertificateTableTest, BytesAreBounded) {
  EXPECT_TRUE(ParseCertificateTable(Bytes(kTableBytesMax)).ok());
  EXPECT_FALSE(ParseCertificateTable(Bytes(kTableBytesMax + 1)).ok());
}

TEST(CertificateTableTest, RefersWithinItselfAlone) {
  const struct {
    const char* what;
    const char* guid;
    uint32_t offset, length;
    bool is_accepted;
  } rows[] = {
      {"to the entries themselves", kVcek, 0, 48, true},
      {"to nothing, at the end", kVcek, 48, 0, true},
      {"one byte beyond", kVcek, 0, 49, false},
      {"from beyond the end", kVcek, 49, 0, false},
      {"offset and length overflow", kVcek, 0xFFFFFFFF, 0xFFFFFFFF, false},
      {"the sum wraps around", kVcek, 24, 0xFFFFFFE8, false},
      {"beyond, of a GUID that is skipped", kVlek, 0, 49, false},
  };
  for (const auto& row : rows) {
    ByteWriter table;
    AddEntry(row.guid, row.offset, row.length, table);
    AddEntry(kEnd, 0, 0, table);
    EXPECT_EQ(ParseCertificateTable(table.written()).ok(), row.is_accepted) << row.what;
  }
}

TEST(CertificateTableTest, RefusesACertificateTwice) {
  ByteWriter table;
  AddEntry(kVcek, 0, 24, table);
  AddEntry(kVcek, 0, 24, table);
  AddEntry(kEnd, 0, 0, table);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCertificateTable(table.written()).status()));
}

TEST(CertificateTableTest, MayBeEmptyAndSkipsOtherGuids) {
  ByteWriter table;
  AddEntry(kVlek, 0, 24, table);
  AddEntry(kEnd, 0, 0, table);
  const auto parsed = ParseCertificateTable(table.written());
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->vcek.empty() && parsed->ask.empty() && parsed->ark.empty());
}

void Add(const char* oid, const Bytes& value, X509& certificate) {
  const Asn1ObjectPtr object(OBJ_txt2obj(oid, 1));
  const Asn1OctetsPtr octets(ASN1_OCTET_STRING_new());
  ASN1_OCTET_STRING_set(octets.get(), value.data(), static_cast<int>(value.size()));
  const ExtensionPtr extension(X509_EXTENSION_create_by_OBJ(nullptr, object.get(), 0, octets.get()));
  X509_add_ext(&certificate, extension.get(), -1);
}

// A certificate of all extensions, of which `oid` has other values: none, one or several.
CertificatePtr With(const std::string& oid, const std::vector<Bytes>& values) {
  CertificatePtr certificate(X509_new());
  for (const char* const each : {kVcekBootLoader, kVcekTee, kVcekSnp, kVcekMicrocode}) {
    if (each != oid) Add(each, {0x02, 0x01, 0x07}, *certificate);
  }
  if (kVcekChip != oid) Add(kVcekChip, Bytes(64, 0xAB), *certificate);
  for (const Bytes& value : values) Add(oid.c_str(), value, *certificate);
  return certificate;
}

TEST(VcekTest, ReadsVersions) {
  const struct {
    Bytes der;
    int version;  // -1: refused
  } rows[] = {
      {{0x02, 0x01, 0x00}, 0},
      {{0x02, 0x01, 0x7F}, 127},
      {{0x02, 0x02, 0x00, 0x80}, 128},
      {{0x02, 0x02, 0x00, 0xFF}, 255},
      {{0x02, 0x01, 0x80}, -1},              // negative
      {{0x02, 0x02, 0x00, 0x7F}, -1},        // not the shortest form
      {{0x02, 0x02, 0x01, 0x00}, -1},        // 256
      {{0x02, 0x01}, -1},                    // cut
      {{0x02, 0x01, 0x07, 0x00}, -1},        // something behind
      {{0x04, 0x01, 0x07}, -1},              // another type
      {{}, -1},                              // nothing
      {{0x02, 0x03, 0x00, 0x00, 0x01}, -1},  // too long
  };
  for (const auto& row : rows) {
    const auto subject = SubjectOfVcek(*With(kVcekMicrocode, {row.der}));
    EXPECT_EQ(subject.ok() ? subject->tcb.microcode : -1, row.version) << testing::PrintToString(row.der);
  }
}

TEST(VcekTest, EachExtensionIsItsOwnComponent) {
  const Bytes nine = {0x02, 0x01, 0x09};
  EXPECT_EQ(SubjectOfVcek(*With(kVcekBootLoader, {nine}))->tcb, (TcbVersion{9, 7, 7, 7}));
  EXPECT_EQ(SubjectOfVcek(*With(kVcekTee, {nine}))->tcb, (TcbVersion{7, 9, 7, 7}));
  EXPECT_EQ(SubjectOfVcek(*With(kVcekSnp, {nine}))->tcb, (TcbVersion{7, 7, 9, 7}));
  EXPECT_EQ(SubjectOfVcek(*With(kVcekMicrocode, {nine}))->tcb, (TcbVersion{7, 7, 7, 9}));
}

TEST(VcekTest, TheChipIsRawOrWrapped) {
  ChipId chip;
  chip.fill(0xCD);
  Bytes wrapped(64, 0xCD);
  wrapped.insert(wrapped.begin(), {0x04, 0x40});
  EXPECT_EQ(SubjectOfVcek(*With(kVcekChip, {Bytes(64, 0xCD)}))->chip_id, chip);
  EXPECT_EQ(SubjectOfVcek(*With(kVcekChip, {wrapped}))->chip_id, chip);
  wrapped[0] = 0x03;
  EXPECT_FALSE(SubjectOfVcek(*With(kVcekChip, {wrapped})).ok());
  // Turin's have 8 bytes.
  for (const size_t size : {0, 8, 63, 65, 66}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SubjectOfVcek(*With(kVcekChip, {Bytes(size, 0xCD)})).status())) << size;
  }
}

TEST(VcekTest, EachExtensionIsThereOnce) {
  for (const char* const oid : {kVcekBootLoader, kVcekTee, kVcekSnp, kVcekMicrocode, kVcekChip}) {
    const Bytes value = oid == kVcekChip ? Bytes(64) : Bytes{0x02, 0x01, 0x01};
    EXPECT_TRUE(SubjectOfVcek(*With(oid, {value})).ok()) << oid;
    EXPECT_TRUE(absl::IsInvalidArgument(SubjectOfVcek(*With(oid, {})).status())) << oid;
    EXPECT_TRUE(absl::IsInvalidArgument(SubjectOfVcek(*With(oid, {value, value})).status())) << oid;
  }
}

}  // namespace

}  // namespace sideband::attestation

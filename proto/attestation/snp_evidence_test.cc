// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/snp_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/base/openssl.h"
#include "proto/base/uuid.h"

namespace sideband::attestation {
namespace {

template <typename Array>
Array Filled(uint8_t byte) {
  Array array;
  array.fill(byte);
  return array;
}

// Every field has values of its own.
SnpReport Whole() {
  return {.version = 3,
          .guest_svn = 0x11121314,
          .policy = 0x2122232425262728,
          .family_id = Filled<std::array<uint8_t, 16>>(0x31),
          .image_id = Filled<std::array<uint8_t, 16>>(0x32),
          .vmpl = 0x33343536,
          .signature_algorithm = 1,
          .current_tcb = {.boot_loader = 0x41, .tee = 0x42, .snp = 0x43, .microcode = 0x44},
          .platform_info = 0x5152535455565758,
          .flags = 0x61626364,
          .report_data = Filled<ReportData>(0x71),
          .measurement = Filled<Measurement>(0x72),
          .host_data = Filled<HostData>(0x73),
          .id_key_digest = Filled<std::array<uint8_t, 48>>(0x74),
          .author_key_digest = Filled<std::array<uint8_t, 48>>(0x75),
          .report_id = Filled<std::array<uint8_t, 32>>(0x76),
          .report_id_ma = Filled<std::array<uint8_t, 32>>(0x77),
          .reported_tcb = {.boot_loader = 0x81, .tee = 0x82, .snp = 0x83, .microcode = 0x84},
          .chip_id = Filled<ChipId>(0x91),
          .committed_tcb = {.boot_loader = 0xA1, .tee = 0xA2, .snp = 0xA3, .microcode = 0xA4},
          .current_version = {.build = 0xB1, .minor = 0xB2, .major = 0xB3},
          .committed_version = {.build = 0xC1, .minor = 0xC2, .major = 0xC3},
          .launch_tcb = {.boot_loader = 0xD1, .tee = 0xD2, .snp = 0xD3, .microcode = 0xD4},
          .r = Filled<SnpNumber>(0xE1),
          .s = Filled<SnpNumber>(0xF1)};
}

Bytes Repeated(size_t size, uint8_t byte) { return Bytes(size, byte); }

// The specification's table.
TEST(SnpReportTest, FieldsAreWhereTheSpecificationHasThem) {
  const struct {
    size_t offset;
    Bytes bytes;
  } rows[] = {
      {0x000, {3, 0, 0, 0}},
      {0x004, {0x14, 0x13, 0x12, 0x11}},
      {0x008, {0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21}},
      {0x010, Repeated(16, 0x31)},
      {0x020, Repeated(16, 0x32)},
      {0x030, {0x36, 0x35, 0x34, 0x33}},
      {0x034, {1, 0, 0, 0}},
      {0x038, {0x41, 0x42, 0, 0, 0, 0, 0x43, 0x44}},
      {0x040, {0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51}},
      {0x048, {0x64, 0x63, 0x62, 0x61}},
      {0x04C, Repeated(4, 0)},
      {0x050, Repeated(64, 0x71)},
      {0x090, Repeated(48, 0x72)},
      {0x0C0, Repeated(32, 0x73)},
      {0x0E0, Repeated(48, 0x74)},
      {0x110, Repeated(48, 0x75)},
      {0x140, Repeated(32, 0x76)},
      {0x160, Repeated(32, 0x77)},
      {0x180, {0x81, 0x82, 0, 0, 0, 0, 0x83, 0x84}},
      {0x188, Repeated(24, 0)},
      {0x1A0, Repeated(64, 0x91)},
      {0x1E0, {0xA1, 0xA2, 0, 0, 0, 0, 0xA3, 0xA4}},
      {0x1E8, {0xB1, 0xB2, 0xB3, 0}},
      {0x1EC, {0xC1, 0xC2, 0xC3, 0}},
      {0x1F0, {0xD1, 0xD2, 0, 0, 0, 0, 0xD3, 0xD4}},
      {0x1F8, Repeated(168, 0)},
      {0x2A0, Repeated(72, 0xE1)},
      {0x2E8, Repeated(72, 0xF1)},
      {0x330, Repeated(368, 0)},
  };
  const Bytes report = EncodeSnpReport(Whole());
  size_t end = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(row.offset, end) << "the rows leave a gap";
    end = row.offset + row.bytes.size();
    ASSERT_LE(end, report.size());
    EXPECT_EQ(Bytes(report.begin() + static_cast<ptrdiff_t>(row.offset), report.begin() + static_cast<ptrdiff_t>(end)),
              row.bytes)
        << std::hex << row.offset;
  }
  EXPECT_EQ(end, kSnpReportBytes);
  EXPECT_EQ(report.size(), kSnpReportBytes);
}

TEST(SnpReportTest, ComesBack) {
  EXPECT_EQ(*ParseSnpReport(EncodeSnpReport(Whole())), Whole());
  EXPECT_EQ(*ParseSnpReport(EncodeSnpReport({})), SnpReport());
}

TEST(SnpReportTest, RefusesOtherLengths) {
  Bytes bytes = EncodeSnpReport(Whole());
  bytes.push_back(0);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(ParseSnpReport(ByteSpan(bytes).first(size)).ok(), size == kSnpReportBytes) << size;
  }
}

TEST(SnpReportTest, RefusesOtherVersions) {
  for (const uint32_t version : {0u, 1u, 2u, 5u, 6u, 0xFFFFFFFFu}) {
    SnpReport report = Whole();
    report.version = version;
    EXPECT_EQ(ParseSnpReport(EncodeSnpReport(report)).ok(), version >= 2 && version <= 5) << version;
  }
}

TEST(SnpReportTest, RefusesAnythingBehindTheSignature) {
  for (const size_t offset : {size_t{0x330}, size_t{0x400}, kSnpReportBytes - 1}) {
    Bytes bytes = EncodeSnpReport(Whole());
    bytes[offset] = 1;
    EXPECT_TRUE(absl::IsInvalidArgument(ParseSnpReport(bytes).status())) << offset;
  }
}

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

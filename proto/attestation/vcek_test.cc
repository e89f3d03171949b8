// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/vcek.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/base/openssl.h"

namespace sideband::attestation {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
#include "proto/attestation/throwaway_psp.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/attestation/certificate_table.h"
#include "proto/attestation/ecdsa_p384.h"
#include "proto/attestation/throwaway_snp_ca.h"
#include "proto/base/file.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"

namespace sideband::attestation {
namespace {

absl::Status WriteFile(const std::string& path, mode_t mode, const std::function<int(BIO*)>& write) {
  // The mode applies from the file's creation.
  const mode_t mask = umask(0777 & ~mode);
  const BioPtr file(BIO_new_file(path.c_str(), "w"));
  umask(mask);
  if (file == nullptr) {
    const int error = errno;
    ERR_clear_error();
    return ErrnoStatus(error, path);
  }
  const bool is_written = write(file.get()) == 1 && BIO_flush(file.get()) == 1;
  return is_written ? absl::OkStatus() : OpenSslFailed(absl::StrCat("write ", path));
}

absl::Status WriteCertificate(const std::string& path, X509& certificate) {
  return WriteFile(path, 0644, [&](BIO* file) { return PEM_write_bio_X509(file, &certificate); });
}

absl::Status WriteKey(const std::string& path, EVP_PKEY* key) {
  return WriteFile(path, 0600, [&](BIO* file) {
    return PEM_write_bio_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<ThrowawayPsp>> ThrowawayPsp::Create(const std::string& folder, const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawaySnpCa::Create(options.rsa_bits));
  const KeyPtr key(EVP_EC_gen("P-384"));
  if (key == nullptr) return OpenSslFailed("make a key");
  SIDEBAND_ASSIGN_OR_RETURN(const CertificatePtr vcek, ca->IssueVcek(key.get(), options.subject));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/ark.pem", ca->ark()));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/ask.pem", ca->ask()));
  SIDEBAND_RETURN_IF_ERROR(WriteCertificate(folder + "/vcek.pem", *vcek));
  SIDEBAND_RETURN_IF_ERROR(WriteKey(folder + "/vcek.key", key.get()));
  return Load(folder);
}

absl::StatusOr<std::unique_ptr<ThrowawayPsp>> ThrowawayPsp::Load(const std::string& folder) {
  const std::string key_file = folder + "/vcek.key";
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain ask, LoadCertificates(folder + "/ask.pem"));
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain vcek, LoadCertificates(folder + "/vcek.pem"));
  SIDEBAND_ASSIGN_OR_RETURN(const VcekSubject subject, SubjectOfVcek(*vcek.front()));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string pem, ReadFile(key_file));
  KeyPtr key = ReadPrivateKey(MemoryReader(pem).get());
  const bool is_right = key != nullptr && X509_check_private_key(vcek.front().get(), key.get()) == 1;
  ERR_clear_error();
  if (!is_right) return absl::InvalidArgumentError(absl::StrCat(key_file, ": not the private key of vcek.pem"));
  return std::unique_ptr<ThrowawayPsp>(
      new ThrowawayPsp(ToDer(*ask.front()), ToDer(*vcek.front()), std::move(key), subject));
}

absl::StatusOr<Bytes> ThrowawayPsp::Report(SnpReport report) const {
  for (TcbVersion* const tcb : {&report.current_tcb, &report.reported_tcb, &report.committed_tcb, &report.launch_tcb}) {
    *tcb = subject_.tcb;
  }
  report.chip_id = subject_.chip_id;
  report.report_id_ma.fill(0xFF);
  return ReportAsIs(report);
}

absl::StatusOr<Bytes> ThrowawayPsp::ReportAsIs(SnpReport report) const {
  const Bytes unsigned_report = EncodeSnpReport(report);
  SIDEBAND_ASSIGN_OR_RETURN(std::tie(report.r, report.s),
                            SignP384(key_.get(), ByteSpan(unsigned_report).first(kSnpSignedBytes)));
  ByteWriter out;
  out.Raw(EncodeSnpReport(report));
  out.Raw(EncodeCertificateTable({.vcek = vcek_, .ask = ask_}));
  return std::move(out).Take();
}

}  // namespace sideband::attestation

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/audit/chain.h"
#include "proto/audit/entry.h"
#include "proto/audit/verify_files.h"
#include "proto/base/build_version.h"
#include "proto/base/byte_size.h"
#include "proto/base/bytes.h"
#include "proto/base/certificates.h"
#include "proto/base/command_line.h"
#include "proto/base/descriptor.h"
#include "proto/base/error_list.h"
#include "proto/base/file.h"
#include "proto/base/hex.h"
#include "proto/base/openssl_handle.h"
#include "proto/base/program.h"
#include "proto/base/secret_memory.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/unix_socket.h"
#include "proto/base/uuid.h"
#include "proto/base/version.h"
#include "proto/base/wait_until.h"
#include "proto/base/yaml.h"
#include "proto/exposition/family_names.h"
#include "proto/exposition/row_families.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"
#include "proto/manual/command_entry.h"
#include "proto/manual/completion.h"
#include "proto/manual/completion_words.h"
#include "proto/manual/man_page.h"
#include "proto/manual/print_manual.h"
#include "proto/registers/event_list.h"
#include "proto/registers/guest_port.h"
#include "proto/registers/page_access.h"
#include "proto/smbus/bit_times.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/bus_socket.h"
#include "proto/smbus/capture_file.h"
#include "proto/smbus/frame_body.h"
#include "proto/smbus/i2cdev_buses.h"
#include "proto/smbus/monitor_frame.h"
#include "proto/smbus/transfer.h"

namespace sideband {
namespace {

void UseBuildVersion() {
  //@ proto/base/build_version.h
}

absl::Status UseByteSize() {
  //@ proto/base/byte_size.h
  return absl::OkStatus();
}

absl::Status UseBytes() {
  //@ proto/base/bytes.h
  return absl::OkStatus();
}

absl::Status UseCommandLine(CLI::App& app, int argc, char** argv) {
  //@ proto/base/command_line.h
  return absl::OkStatus();
}

absl::Status UseDescriptor(const char* path) {
  //@ proto/base/descriptor.h
  return absl::OkStatus();
}

struct Device {
  std::string name;
  absl::Duration interval;
};
constexpr absl::Duration kMin = absl::Milliseconds(100);
constexpr absl::Duration kMax = absl::Hours(1);

absl::Status UseErrorList(const YamlMap& map, Device& device) {
  //@ proto/base/error_list.h
}

absl::Status UseFile(const std::string& path) {
  //@ proto/base/file.h
  return absl::OkStatus();
}

void UseHex() {
  //@ proto/base/hex.h
}

void Use(const X509& certificate);

void UseOpensslHandles(absl::string_view pem) {
  //@ proto/base/openssl_handle.h
}

int Main(int argc, char** argv);

//@ proto/base/program.h

void UseSecretMemory() {
  //@ proto/base/secret_memory.h
}

struct Log {
  absl::Status Append(const Bytes& bytes);
};
struct Config {};
absl::StatusOr<Config> LoadConfig(const std::string& path);

absl::Status UseStatusMacros(Log& file, const Bytes& bytes, const std::string& path) {
  //@ proto/base/status_macros.h
  return absl::OkStatus();
}

class SteadyWaiter {
  void UseSteadyTime() {
    //@ proto/base/steady_time.h
  }

  absl::Mutex mu_;
  SteadyCondVar changed_;
  bool stopping_ = false;
};

absl::Status UseThrowawayCa(const std::string& folder) {
  //@ proto/base/throwaway_ca.h
  return absl::OkStatus();
}

absl::Status UseUnixSocket(ByteSpan request) {
  //@ proto/base/unix_socket.h
  return absl::OkStatus();
}

absl::Status UseUuid() {
  //@ proto/base/uuid.h
  return absl::OkStatus();
}

void UseVersion() {
  //@ proto/base/version.h
}

void UseWaitUntil(const absl::Notification& done, const std::vector<int>& store, std::thread& thread) {
  //@ proto/base/wait_until.h
}

absl::Status UseYaml() {
  //@ proto/base/yaml.h
  return absl::OkStatus();
}

absl::Status UseCertificates(const CertificateChain& chain) {
  //@ proto/base/certificates.h
  return absl::OkStatus();
}

bool ReadMore(std::string& bytes);

absl::Status UseChainVerifier(const std::string& head_noted_elsewhere, std::string bytes) {
  //@ proto/audit/chain.h
  return absl::OkStatus();
}

absl::Status UseAuditLine(const AuditEntry& entry, std::string head) {
  //@ proto/audit/entry.h
  return absl::OkStatus();
}

absl::Status VerifyFiles() {
  //@ proto/audit/verify_files.h
  return absl::OkStatus();
}

void UseFamilyNames(const mailbox::Catalog& catalog, size_t event) {
  //@ proto/exposition/family_names.h
}

void UseRowFamilies(const mailbox::EventInfo& event, const std::string& name, std::string& out) {
  //@ proto/exposition/row_families.h
}

void UseText(std::string& labels, const mailbox::VmInfo& vm) {
  //@ proto/exposition/text.h
}

absl::Status UseEventList() {
  //@ proto/registers/event_list.h
  return absl::OkStatus();
}

absl::Status UseGuestPort() {
  //@ proto/registers/guest_port.h
  return absl::OkStatus();
}

void UsePageAccess() {
  //@ proto/registers/page_access.h
}

}  // namespace
}  // namespace sideband

namespace sideband::manual {
namespace {

void UseCommandEntry(CLI::App& app) {
  //@ proto/manual/command_entry.h
}

void UseCompletion(CLI::App& app) {
  //@ proto/manual/completion.h
}

void UseCompletionWords(const OptionEntry& option, std::string& spec) {
  //@ proto/manual/completion_words.h
}

void UseManPage(CLI::App& app) {
  //@ proto/manual/man_page.h
}

}  // namespace
}  // namespace sideband::manual

namespace print_manual {

CLI::App app;
sideband::manual::ManPage page;

//@ proto/manual/print_manual.h

}  // namespace print_manual

namespace sideband::smbus {
namespace {

absl::Status Send(int fd, ByteSpan frame);
absl::StatusOr<Bytes> Receive(int fd, size_t size);

void UseBitTimes(const Transfer& transfer, const TransferResult& result) {
  //@ proto/smbus/bit_times.h
}

absl::Status UseBusFrame(int fd, const Transfer& transfer) {
  //@ proto/smbus/bus_frame.h
  return absl::OkStatus();
}

void UseBusSocket(const Transfer& transfer) {
  //@ proto/smbus/bus_socket.h
}

absl::Status UseCaptureFile(uint64_t now, const BusRecord& record) {
  //@ proto/smbus/capture_file.h
  return absl::OkStatus();
}

absl::Status UseFrameBody(uint64_t transactions, ByteSpan body) {
  //@ proto/smbus/frame_body.h
}

absl::Status UseI2cDevBuses(const std::string& text) {
  //@ proto/smbus/i2cdev_buses.h
  return absl::OkStatus();
}

absl::Status UseMonitorFrame(int fd, ByteSpan first_body, ByteSpan next_body) {
  //@ proto/smbus/monitor_frame.h
  return absl::OkStatus();
}

void UseTransfer() {
  //@ proto/smbus/transfer.h
}

}  // namespace
}  // namespace sideband::smbus

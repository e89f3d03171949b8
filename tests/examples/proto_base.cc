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
#include "proto/base/bytes.h"
#include "proto/base/command_entry.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/fake_unix_server.h"
#include "proto/base/file.h"
#include "proto/base/man_page.h"
#include "proto/base/openssl.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"
#include "proto/base/text.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/unix_socket.h"
#include "proto/base/uuid.h"
#include "proto/base/version.h"
#include "proto/base/wait_until.h"
#include "proto/base/yaml.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/catalog.h"
#include "proto/registers/event_list.h"
#include "proto/registers/guest_port.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/capture_file.h"
#include "proto/smbus/transfer.h"

namespace sideband {
namespace {

absl::Status UseBytes() {
  //@ proto/base/bytes.h
  return absl::OkStatus();
}

absl::Status UseCommandLine(CLI::App& app, int argc, char** argv) {
  //@ proto/base/command_line.h
  return absl::OkStatus();
}

struct Device {
  std::string name;
  absl::Duration interval;
};
constexpr absl::Duration kMin = absl::Milliseconds(100);
constexpr absl::Duration kMax = absl::Hours(1);

int UseErrors(const YamlMap& map, Device& device) {
  //@ proto/base/errors.h
}

void SendGreeting(int fd);
void SendRubbish(int fd);

void UseFakeUnixServer() {
  //@ proto/base/fake_unix_server.h
}

absl::Status UseFile(const std::string& path) {
  //@ proto/base/file.h
  return absl::OkStatus();
}

void Use(const X509& certificate);

absl::Status UseOpenssl(absl::string_view pem, const CertificateChain& chain) {
  //@ proto/base/openssl.h
  return absl::OkStatus();
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

absl::Status UseText(bool known, const std::string& word, const std::vector<std::string>& events) {
  //@ proto/base/text.h
  return absl::OkStatus();
}

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

bool ReadMore(std::string& bytes);

absl::Status UseChain(const AuditEntry& entry, std::string head, const std::string& head_noted_elsewhere,
                      std::string bytes) {
  //@ proto/audit/chain.h
  return absl::OkStatus();
}

void UsePrometheusText(const mailbox::Catalog& catalog, const mailbox::VmInfo& vm, size_t event, std::string& labels,
                       std::string& out) {
  //@ proto/exposition/prometheus_text.h
}

absl::Status UseEventList() {
  //@ proto/registers/event_list.h
  return absl::OkStatus();
}

absl::Status UseGuestPort() {
  //@ proto/registers/guest_port.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband

namespace sideband::manual {
namespace {

void UseCommandEntry(CLI::App& app) {
  //@ proto/base/command_entry.h
}

int UseManPage(int argc, char** argv, CLI::App& app) {
  //@ proto/base/man_page.h
}

}  // namespace
}  // namespace sideband::manual

namespace sideband::smbus {
namespace {

absl::Status Send(int fd, ByteSpan frame);
absl::StatusOr<Bytes> Receive(int fd, size_t size);

absl::Status UseBusFrame(int fd, const Transfer& transfer, ByteSpan first_body, ByteSpan next_body) {
  //@ proto/smbus/bus_frame.h
  return absl::OkStatus();
}

absl::Status UseCaptureFile(uint64_t now, const BusRecord& record) {
  //@ proto/smbus/capture_file.h
  return absl::OkStatus();
}

absl::Status UseBusName(const std::string& text) {
  //@ proto/smbus/bus_name.h
  return absl::OkStatus();
}

void UseTransfer(Bus& bus) {
  //@ proto/smbus/transfer.h
}

}  // namespace
}  // namespace sideband::smbus

// SPDX-License-Identifier: Apache-2.0
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/demo/demo_command.h"
#include "client/demo/demo_site.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/throwaway_ca.h"

namespace sideband::client {
namespace {

constexpr char kFirstAddress[] = "127.0.0.1:9878";
constexpr const char* kFirstUsers[] = {"operator", "acme"};

constexpr char kFirstChip[] =
#include "client/demo/chip_yaml.inc"
    ;

constexpr char kFirstPolicy[] = R"(version: 1
operators:
  - {name: operator, identities: ["spiffe://example.org/operator"]}
tenants:
  - name: acme
    identities: ["spiffe://example.org/acme"]
    vms:
      - {uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e101, rights: [read, mark, peek]}  # vm1
      - {uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e103, rights: [seal]}              # vm3, confidential
)";

constexpr char kFirstDaemon[] = R"(devices:
  - {name: gpu0, bus: "unix:gpu0.sock@0x4f", interval: 1s, clocks: {trigger_hz: 1000}}
grpc:
  listen: "127.0.0.1:9878"
  unix_socket: grpc.sock
  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}
http:
  listen: "127.0.0.1:9877"
  unix_socket: http.sock
  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}
policy_file: policy.yaml
sealing:
  vm_keys:
    - {vm: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e103, key_file: vm3.key}
audit: {file: audit.jsonl}
state_dir: state
)";

// After the name of the folder.
constexpr char kNextSteps[] = R"(
  sideband-mcu serve --chip chip.yaml --bus unix:gpu0.sock &
  sidebandd --config sidebandd.yaml --check
  sidebandd --config sidebandd.yaml &
  sideband --config operator.yaml devices
  sideband --config operator.yaml top --batch --count 1
  sideband --config acme.yaml get
  curl --cacert ca.pem --cert operator.pem --key operator.key https://127.0.0.1:9877/metrics

For production, replace:
  *.pem, *.key     certificates by those of your own CA: these end after 30 days,
                   and the key of this CA was not kept
  policy.yaml      the identities, and the UUIDs of the VMs
  sidebandd.yaml   the emulated device by a board, and the addresses
  chip.yaml        remove it: it describes the emulated device
  vm3.key          the key of the confidential VM by one that its owner makes
)";

absl::Status MakeEmptyFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return ErrnoStatus(errno, folder);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return ErrnoStatus(errno, folder);
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder, ": other users may write to the folder, which is for keys and sockets: chmod 700 it"));
  }
  std::error_code error;
  const std::filesystem::directory_iterator first(folder, error);
  if (error) return ErrnoStatus(error.value(), folder);
  if (first == std::filesystem::directory_iterator()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(folder, ": the folder is not empty, and nothing is overwritten"));
}

absl::Status WriteFirstCertificates(const std::string& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder));
  SIDEBAND_RETURN_IF_ERROR(ca->Issue("server", "DNS:localhost,IP:127.0.0.1"));
  for (const char* user : kFirstUsers) {
    SIDEBAND_RETURN_IF_ERROR(ca->Issue(user, absl::StrCat("URI:spiffe://example.org/", user)));
  }
  return absl::OkStatus();
}

absl::Status WriteVmKey(const std::string& path) {
  std::array<char, 32> key{};
  if (RAND_priv_bytes(reinterpret_cast<unsigned char*>(key.data()), static_cast<int>(key.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  return WriteSiteFile(path, absl::StrCat(absl::BytesToHexString({key.data(), key.size()}), "\n"), 0600);
}

class ConfigCommand final : public Command {
 public:
  std::string name() const override { return "config"; }
  std::string description() const override { return "Write the files of a first site on this host"; }

  void Define(CLI::App& app) override {
    app.require_subcommand(1);
    app.footer(
        "Example:\n"
        "  sideband config init --dir site");
    CLI::App* const init = app.add_subcommand(
        "init", "Write certificates, keys, policy and configurations for an emulated device, the daemon and its users");
    init->add_option("--dir", folder_, "Where: a new folder, or an empty one")->required()->type_name("FOLDER");
    init->footer(
        "Nothing is overwritten. What is printed says how to start the programs, and what to replace in production.\n"
        "Example:\n"
        "  sideband config init --dir site");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_RETURN_IF_ERROR(WriteFirstSite(folder_));
    return context.out().Write(absl::StrCat("The files of a first site are in ", folder_, ". Next:\n\n  cd ",
                                            ShellQuoted(folder_), kNextSteps));
  }

 private:
  std::string folder_;
};

}  // namespace

absl::Status WriteFirstSite(const std::string& folder) {
  SIDEBAND_RETURN_IF_ERROR(MakeEmptyFolder(folder));
  SIDEBAND_RETURN_IF_ERROR(WriteFirstCertificates(folder));
  SIDEBAND_RETURN_IF_ERROR(WriteVmKey(folder + "/vm3.key"));
  SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(folder + "/chip.yaml", kFirstChip));
  SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(folder + "/policy.yaml", kFirstPolicy));
  for (const char* user : kFirstUsers) {
    SIDEBAND_RETURN_IF_ERROR(
        WriteSiteFile(absl::StrCat(folder, "/", user, ".yaml"), ClientConfigText(kFirstAddress, user)));
  }
  return WriteSiteFile(folder + "/sidebandd.yaml", kFirstDaemon);
}

std::unique_ptr<Command> NewConfigCommand() { return std::make_unique<ConfigCommand>(); }

}  // namespace sideband::client

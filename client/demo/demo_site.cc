// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_site.h"

#include <openssl/rand.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/yaml.h"

namespace sideband::client {
namespace {

constexpr char kTrustDomain[] = "spiffe://demo.sideband/";
constexpr const char* kUsers[] = {"operator", "tenant-a", "tenant-b"};

absl::Status WriteText(const std::string& path, const std::string& text, mode_t mode = 0644) {
  // The mode applies from the file's creation, so that a key is never readable by other users.
  const mode_t mask = umask(0777 & ~mode);
  std::ofstream file(path);
  umask(mask);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

// Single-quotes `text` for YAML, where only the quote itself must be escaped.
std::string Quoted(const std::string& text) { return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'"); }

absl::Status WriteCertificates(const std::string& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder));
  SIDEBAND_RETURN_IF_ERROR(ca->Issue("server", "DNS:localhost,IP:127.0.0.1"));
  for (const char* user : kUsers) SIDEBAND_RETURN_IF_ERROR(ca->Issue(user, absl::StrCat("URI:", kTrustDomain, user)));
  return absl::OkStatus();
}

absl::Status WriteVmKey(const std::string& path) {
  unsigned char key[32];
  if (RAND_bytes(key, sizeof(key)) != 1) return absl::InternalError("OpenSSL returned no random bytes");
  const absl::string_view bytes(reinterpret_cast<const char*>(key), sizeof(key));
  return WriteText(path, absl::StrCat(absl::BytesToHexString(bytes), "\n"), 0600);
}

std::string PolicyFile(const std::vector<DemoVm>& vms) {
  std::string text = absl::StrCat("version: 1\noperators:\n  - {name: operator, identities: [\"", kTrustDomain,
                                  "operator\"]}\ntenants:\n");
  for (const char* tenant : {"tenant-a", "tenant-b"}) {
    absl::StrAppend(&text, "  - name: ", tenant, "\n    identities: [\"", kTrustDomain, tenant, "\"]\n    vms:\n");
    for (const DemoVm& vm : vms) {
      if (vm.tenant != tenant) continue;
      absl::StrAppend(&text, "      - {uuid: ", vm.uuid, ", rights: [", vm.confidential ? "seal" : "read", "]}  # ",
                      vm.name, "\n");
    }
  }
  return text;
}

std::string DaemonConfig(const std::vector<DemoVm>& vms) {
  constexpr char kTls[] =
      "  listen: \"127.0.0.1:0\"\n"
      "  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}\n";
  std::string text = absl::StrCat(
      "devices:\n  - {name: gpu0, bus: \"unix:gpu0.sock@0x4f\", interval: 250ms}\n"
      "grpc:\n",
      kTls, "http:\n", kTls, "policy_file: policy.yaml\nports_file: ports\nstate_dir: state\n");
  std::string keys;
  for (const DemoVm& vm : vms) {
    if (vm.confidential) absl::StrAppend(&keys, "    - {vm: ", vm.uuid, ", key_file: ", vm.name, ".key}\n");
  }
  return keys.empty() ? text : absl::StrCat(text, "sealing:\n  vm_keys:\n", keys);
}

}  // namespace

std::vector<DemoVm> BuiltInVms() {
  // The VMs of deploy/examples/chip.yaml.
  constexpr char kUuid[] = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e10";
  return {{"vm1", absl::StrCat(kUuid, 1), "tenant-a", false, {"train", "eval", "kernel"}, /*has_users=*/true, "kernel"},
          {"vm2", absl::StrCat(kUuid, 2), "tenant-b", false, {"serve"}},
          {"vm3", absl::StrCat(kUuid, 3), "tenant-b", true, {"finetune", "embed"}}};
}

std::string BuiltInChipFile(const std::string& example) {
  constexpr char kAfter[] = "      - name: eval\n";
  return absl::StrReplaceAll(example, {{kAfter, absl::StrCat("      - name: kernel\n"
                                                             "        slice: 0\n"
                                                             "        seed: 6\n"
                                                             "        phases: [{kind: gemm, time: 20ms}, "
                                                             "{kind: idle, time: 24h}]\n",
                                                             kAfter)}});
}

std::vector<DemoVm> WaveformVms(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& names_and_contexts) {
  std::vector<DemoVm> vms;
  const size_t count = names_and_contexts.size();
  for (size_t i = 0; i < count; ++i) {
    const auto& [name, contexts] = names_and_contexts[i];
    vms.push_back({.name = name,
                   .uuid = absl::StrFormat("5b0f6a2e-7c64-4d0c-9d7e-%012x", i + 1),
                   .tenant = 2 * i < count ? "tenant-a" : "tenant-b",
                   .confidential = count > 1 && i + 1 == count,
                   .contexts = contexts});
  }
  return vms;
}

std::string WaveformChipFile(const DemoWaveform& waveform, const std::vector<DemoVm>& vms) {
  const auto absolute = [](const std::string& path) { return Quoted(std::filesystem::absolute(path).string()); };
  std::string text =
      absl::StrCat("device: {uuid: 5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001, clock_hz: 1000000}\n",
                   "waveform:\n  trace: ", absolute(waveform.trace), "\n  signals: ", absolute(waveform.signals),
                   "\n  schedule: ", absolute(waveform.schedule), "\nvms:\n");
  for (const DemoVm& vm : vms) {
    absl::StrAppend(&text, "  - name: ", Quoted(vm.name), "\n    uuid: ", vm.uuid,
                    "\n    confidential: ", vm.confidential ? "true" : "false", "\n    contexts:\n");
    for (const std::string& context : vm.contexts) absl::StrAppend(&text, "      - {name: ", Quoted(context), "}\n");
  }
  return text;
}

absl::Status WriteDemoSite(const std::string& folder, const std::vector<DemoVm>& vms, const std::string& chip_file) {
  SIDEBAND_RETURN_IF_ERROR(WriteCertificates(folder));
  for (const DemoVm& vm : vms) {
    if (vm.confidential) SIDEBAND_RETURN_IF_ERROR(WriteVmKey(absl::StrCat(folder, "/", vm.name, ".key")));
  }
  const std::string guests = folder + "/guests";
  if (mkdir(guests.c_str(), 0700) != 0) return ErrnoStatus(errno, guests);
  SIDEBAND_RETURN_IF_ERROR(WriteText(folder + "/chip.yaml", chip_file));
  SIDEBAND_RETURN_IF_ERROR(WriteText(folder + "/policy.yaml", PolicyFile(vms)));
  return WriteText(folder + "/sidebandd.yaml", DaemonConfig(vms));
}

absl::StatusOr<DemoPorts> ReadPorts(const std::string& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(folder + "/ports"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"grpc", "http"}));
  DemoPorts ports;
  SIDEBAND_ASSIGN_OR_RETURN(ports.grpc, map.String("grpc"));
  SIDEBAND_ASSIGN_OR_RETURN(ports.http, map.String("http"));
  return ports;
}

absl::Status WriteClientConfigs(const std::string& folder, const DemoPorts& ports) {
  for (const char* user : kUsers) {
    SIDEBAND_RETURN_IF_ERROR(WriteText(absl::StrCat(folder, "/", user, ".yaml"),
                                       absl::StrCat("address: 127.0.0.1:", ports.grpc, "\nca_file: ca.pem\ncert_file: ",
                                                    user, ".pem\nkey_file: ", user, ".key\n")));
  }
  return absl::OkStatus();
}

}  // namespace sideband::client

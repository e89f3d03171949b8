// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_site.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/attestation/throwaway_psp.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/throwaway_ca.h"
#include "proto/base/yaml.h"

namespace sideband::client {
namespace {

constexpr char kTrustDomain[] = "spiffe://demo.sideband/";
// The UUID of gpu0, as the chip files have it.
constexpr char kDeviceUuid[] = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e001";
constexpr const char* kUsers[] = {"operator", "tenant-a", "tenant-b"};

std::vector<std::string> TlbEvents() { return {"tlb_hits", "tlb_misses"}; }
std::vector<std::string> TensorEvents() { return {"tensor_ops", "tensor_stall_cycles"}; }

// The demonstration adds these to the example's chip, before these lines.
constexpr char kBeforeEval[] = "      - name: eval\n";
constexpr char kKernel[] = R"(      - name: kernel
        slice: 0
        seed: 6
        phases: [{kind: gemm, time: 20ms}, {kind: idle, time: 24h}]
)";
constexpr char kBeforeVm3[] = "  - name: vm3\n";
constexpr char kTune[] = R"(      - name: tune   # on the slice of vm1
        slice: 0
        seed: 8
        phases: [{kind: attention, time: 2ms}]
)";
constexpr char kBeforeCcus[] = "# A collection unit that is named";
constexpr char kSelectableUnits[] = R"(  - name: mux   # four events and two counters: each VM chooses
    count: 4
    counters: 2
    events: [tlb_hits, tlb_misses, tensor_ops, tensor_stall_cycles]

gate_groups:
  - {name: tlb, events: [tlb_hits, tlb_misses]}
  - {name: tensor, events: [tensor_ops, tensor_stall_cycles]}
selections:
  - {name: tensor, events: [tensor_ops, tensor_stall_cycles]}
  - {name: tlb, events: [tlb_hits, tlb_misses]}

)";

// Single-quotes `text` for YAML, where only the quote itself must be escaped.
std::string Quoted(const std::string& text) { return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'"); }

absl::Status WriteCertificates(const std::string& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder));
  SIDEBAND_RETURN_IF_ERROR(ca->Issue("server", "DNS:localhost,IP:127.0.0.1"));
  for (const char* user : kUsers) SIDEBAND_RETURN_IF_ERROR(ca->Issue(user, absl::StrCat("URI:", kTrustDomain, user)));
  return absl::OkStatus();
}

// The identity of gpu0, a secure processor for its guests, and whom the device trusts.
absl::Status WriteSealingFiles(const std::string& folder, const std::vector<DemoVm>& vms) {
  constexpr int kRsaBits = 2048;  // made in a moment
  SIDEBAND_ASSIGN_OR_RETURN(const auto ca, ThrowawayCa::Create(folder, "sealer-ca"));
  SIDEBAND_RETURN_IF_ERROR(ca->Issue("gpu0-identity", absl::StrCat("URI:urn:uuid:", kDeviceUuid)));
  SIDEBAND_RETURN_IF_ERROR(attestation::ThrowawayPsp::Create(folder, {.rsa_bits = kRsaBits}).status());
  std::string text =
      "identity: {certificate: gpu0-identity.pem, key: gpu0-identity.key}\n"
      "evidence: {sev_snp: {roots: [ark.pem]}}\n"
      "guests:\n";
  for (const DemoVm& vm : vms) {
    if (!vm.confidential) continue;
    absl::StrAppend(&text, "  - {vm: ", vm.uuid, ", measurements: [", DemoMeasurement(),
                    "], minimum_tcb: {snp: 8, microcode: 115}}\n");
  }
  return WriteSiteFile(folder + "/sealing.yaml", text);
}

// tenant-a may trade all events that are chosen from, tenant-b only open and close the gates of its own.
std::string Rights(const DemoVm& vm) {
  if (vm.confidential) return "rights: [seal]";
  const std::string read = vm.has_users ? "read, mark" : "read";
  if (vm.chosen.group.empty()) return absl::StrCat("rights: [", read, "]");
  std::string rights =
      absl::StrCat("rights: [", read, ", configure], configure: {gate_groups: [", vm.chosen.group, "]");
  if (vm.chosen.number == 0) return absl::StrCat(rights, "}");
  return absl::StrCat(rights, ", events: [", absl::StrJoin(TlbEvents(), ", "), ", ",
                      absl::StrJoin(TensorEvents(), ", "), "]}");
}

std::string PolicyFile(const std::vector<DemoVm>& vms) {
  std::string text = absl::StrCat("version: 1\noperators:\n  - {name: operator, identities: [\"", kTrustDomain,
                                  "operator\"]}\ntenants:\n");
  for (const char* tenant : {"tenant-a", "tenant-b"}) {
    if (std::ranges::find(vms, tenant, &DemoVm::tenant) == vms.end()) continue;
    absl::StrAppend(&text, "  - name: ", tenant, "\n    identities: [\"", kTrustDomain, tenant, "\"]\n    vms:\n");
    for (const DemoVm& vm : vms) {
      if (vm.tenant != tenant) continue;
      absl::StrAppend(&text, "      - {uuid: ", vm.uuid, ", ", Rights(vm), "}  # ", vm.name, "\n");
    }
  }
  return text;
}

// The first device has the VMs, and seals the confidential ones.
std::string DaemonConfig(const std::vector<DemoDevice>& devices) {
  constexpr char kTls[] =
      "  listen: \"127.0.0.1:0\"\n"
      "  tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem}\n";
  std::string text = "devices:\n";
  for (const DemoDevice& device : devices) {
    absl::StrAppend(&text, "  - {name: ", device.name, ", bus: \"unix:", device.name, ".sock@0x4f\", interval: 250ms",
                    device.has_grid ? ", clocks: {trigger_hz: 1000}" : "",
                    device.seals ? ", sealing: device, capture: gpu0.sbt, capture_plaintext: true" : "",
                    device.is_board ? ", board: {mailbox: exclusive}" : "", "}\n");
  }
  absl::StrAppend(&text, "grpc:\n", kTls, "http:\n", kTls,
                  "policy_file: policy.yaml\nports_file: ports\nstate_dir: state\n");
  return text;
}

constexpr char kRelation[] = "  - {event: instructions_retired_cycles, is_sum_of: [instructions_issued_cycles]}\n";
constexpr char kSecondRelation[] = "  - {event: tensor_issued_cycles, is_sum_of: [tensor_active_cycles]}\n";
constexpr char kCounters[] =
    "    counters: 6\n    fixed: [instructions_issued_cycles]   # counted in every turn, and so exactly\n";
constexpr char kTurns[] =
    "rotation:\n  instructions: instructions_issued_cycles   # its rate tells even from uneven periods\n"
    "  slots: {stable: 200us, fluctuating: 100us}\n";

}  // namespace

std::string ShellQuoted(const std::string& text) {
  const bool is_plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("/._-", c);
  });
  return is_plain ? text : absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

absl::Status WriteSiteFile(const std::string& path, const std::string& text, mode_t mode) {
  // The mode applies from the file's creation, so that a key is never readable by other users.
  const mode_t mask = umask(0777 & ~mode);
  std::ofstream file(path);
  umask(mask);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

std::string DemoMeasurement() { return std::string(96, 'c'); }

std::vector<DemoVm> BuiltInVms() {
  // The VMs of deploy/examples/chip.yaml.
  constexpr char kUuid[] = "5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e10";
  return {{.name = "vm1",
           .uuid = absl::StrCat(kUuid, 1),
           .tenant = "tenant-a",
           .contexts = {"train", "eval", "kernel"},
           .has_users = true,
           .finished_context = "kernel",
           .chosen = {.number = 1, .group = "tlb", .events = TlbEvents()}},
          {.name = "vm2",
           .uuid = absl::StrCat(kUuid, 2),
           .tenant = "tenant-b",
           .contexts = {"serve", "tune"},
           .chosen = {.number = 0, .group = "tensor", .events = TensorEvents()}},
          {.name = "vm3",
           .uuid = absl::StrCat(kUuid, 3),
           .tenant = "tenant-b",
           .confidential = true,
           .contexts = {"finetune", "embed"}}};
}

std::string BuiltInChipFile(const std::string& example) {
  return absl::StrReplaceAll(example, {{kBeforeEval, absl::StrCat(kKernel, kBeforeEval)},
                                       {kBeforeVm3, absl::StrCat(kTune, kBeforeVm3)},
                                       {kBeforeCcus, absl::StrCat(kSelectableUnits, kBeforeCcus)}});
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

std::string BoardChipFile(const std::string& example) {
  return absl::StrReplaceAll(example, {{"3e005", "3e006"}, {"SB-EMU-0005", "SB-EMU-0006"}});
}

std::string RotatingChipFile(const std::string& example) {
  return absl::StrReplaceAll(
      example, {{"      - surface_store_cycles\n", "      - {name: tensor_issued_cycles, of: tensor_active_cycles}\n"},
                {kRelation, absl::StrCat(kRelation, kSecondRelation)},
                {"name: vm1", "name: vm4"},
                {"name: vm2", "name: vm5"},
                {"slice: 0, ", "slice: 0, lifetime: 1s, restart: false, "}});
}

std::string ExactTwinFile(const std::string& example) {
  // A period of 127 cycles is too short for 40 counters.
  return absl::StrReplaceAll(RotatingChipFile(example), {{kCounters, ""},
                                                         {"relations:\n", ""},
                                                         {kRelation, ""},
                                                         {kSecondRelation, ""},
                                                         {kTurns, ""},
                                                         {"  period: 127 ", "  period: 511 "},
                                                         {"counter_bits: 7", "counter_bits: 9"},
                                                         {"3e004", "3e005"},
                                                         {"SB-EMU-0004", "SB-EMU-0005"}});
}

std::string WarningOfShortWaveform(uint64_t cycles) {
  constexpr uint64_t kCyclesMin = 100;
  if (cycles == 0 || cycles >= kCyclesMin) return "";
  return absl::StrCat("The waveform has ", cycles, cycles == 1 ? " cycle" : " cycles", ", and repeats ",
                      kWaveformHz / cycles,
                      " times a second: this may be too often for this machine. If the demo does not become ready, "
                      "lengthen the waveform.\n");
}

std::string WaveformChipFile(const DemoWaveform& waveform, const std::vector<DemoVm>& vms) {
  const auto absolute = [](const std::string& path) { return Quoted(std::filesystem::absolute(path).string()); };
  std::string text =
      absl::StrCat("device: {uuid: ", kDeviceUuid, ", clock_hz: ", kWaveformHz, "}\n",
                   "waveform:\n  trace: ", absolute(waveform.trace), "\n  signals: ", absolute(waveform.signals),
                   "\n  schedule: ", absolute(waveform.schedule), "\nvms:\n");
  for (const DemoVm& vm : vms) {
    absl::StrAppend(&text, "  - name: ", Quoted(vm.name), "\n    uuid: ", vm.uuid,
                    "\n    confidential: ", vm.confidential ? "true" : "false",
                    "\n    contexts:", vm.contexts.empty() ? " []\n" : "\n");
    for (const std::string& context : vm.contexts) absl::StrAppend(&text, "      - {name: ", Quoted(context), "}\n");
  }
  return text;
}

absl::Status WriteDemoSite(const std::string& folder, const std::vector<DemoVm>& vms,
                           const std::vector<DemoDevice>& devices, const std::vector<DemoFile>& files) {
  SIDEBAND_RETURN_IF_ERROR(WriteCertificates(folder));
  SIDEBAND_RETURN_IF_ERROR(WriteSealingFiles(folder, vms));
  const std::string guests = folder + "/guests";
  if (mkdir(guests.c_str(), 0700) != 0) return ErrnoStatus(errno, guests);
  for (const DemoDevice& device : devices) {
    SIDEBAND_RETURN_IF_ERROR(
        WriteSiteFile(absl::StrCat(folder, "/", device.name, ".yaml"),
                      absl::StrCat(device.chip_file, device.seals ? "\nsealing: sealing.yaml\n" : "")));
  }
  for (const DemoFile& file : files) {
    SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(absl::StrCat(folder, "/", file.name), file.text));
  }
  SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(folder + "/policy.yaml", PolicyFile(vms)));
  return WriteSiteFile(folder + "/sidebandd.yaml", DaemonConfig(devices));
}

absl::Status AddBmc(const std::string& folder, const std::string& url, const std::string& password) {
  const std::string path = folder + "/sidebandd.yaml";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string config, ReadFile(path));
  SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(folder + "/bmc.password", password + "\n", 0600));
  return WriteSiteFile(
      path, absl::StrCat(config, "bmcs:\n  - {name: bmc, url: ", Quoted(url), ", ca_file: bmc-ca.pem, user: ", kBmcUser,
                         ", password_file: bmc.password, devices: {name: \"hgx-gpu{index}\"}}\n"));
}

absl::StatusOr<DemoPorts> ReadPorts(const std::string& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load(folder + "/ports"));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, root.Map({"grpc", "http"}));
  DemoPorts ports;
  SIDEBAND_ASSIGN_OR_RETURN(ports.grpc, map.String("grpc"));
  SIDEBAND_ASSIGN_OR_RETURN(ports.http, map.String("http"));
  return ports;
}

std::string ClientConfigText(const std::string& address, const std::string& user) {
  return absl::StrCat("address: ", address, "\nca_file: ca.pem\ncert_file: ", user, ".pem\nkey_file: ", user, ".key\n");
}

absl::Status WriteClientConfigs(const std::string& folder, const DemoPorts& ports) {
  for (const char* user : kUsers) {
    SIDEBAND_RETURN_IF_ERROR(WriteSiteFile(absl::StrCat(folder, "/", user, ".yaml"),
                                           ClientConfigText(absl::StrCat("127.0.0.1:", ports.grpc), user)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeDemoFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    return absl::InvalidArgumentError(absl::StrCat("TMPDIR=", given == nullptr ? "" : given, ": ", error.message()));
  }
  std::string folder = (parent / "sideband-demo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, parent.string());
  return folder;
}

void RemoveDemoFolder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void KeepOnlyLogs(const std::string& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> others;
  for (std::filesystem::directory_iterator entry(folder, ignored);
       !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    if (entry->path().extension() != ".log") others.push_back(entry->path());
  }
  for (const std::filesystem::path& path : others) std::filesystem::remove_all(path, ignored);
}

}  // namespace sideband::client

// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/settings_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/base/replace_file.h"
#include "daemon/counting/counting_file.h"
#include "proto/base/bytes.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using nlohmann::json;

constexpr char kTitle[] = "# sideband counting 1 ";

json ToJson(const GateSetting& value) {
  if (!value.master) return "none";
  return value.groups ? json(*value.groups) : json("all");
}
template <typename Plain>
json ToJson(const Plain& value) {
  return value;
}

template <typename Value>
void Put(const char* key, const std::optional<Value>& value, json& out) {
  if (value) out[key] = ToJson(*value);
}

json GroupJson(const GroupSetting& group) {
  json out = json::object();
  Put("valid", group.valid, out);
  Put("guest", group.guest, out);
  Put("host", group.host, out);
  Put("identifier", group.identifier, out);
  return out;
}

json VmJson(const VmSetting& vm) {
  json out = json::object();
  Put("value", vm.value, out);
  Put("host_value", vm.host_value, out);
  Put("allowed", vm.allowed, out);
  Put("pinned", vm.pinned, out);
  Put("ids", vm.ids, out);
  Put("guest_access", vm.guest_access, out);
  Put("useren", vm.useren, out);
  Put("store", vm.store, out);
  Put("selection", vm.selection, out);
  if (!vm.selection_name.empty()) out["selection_name"] = vm.selection_name;
  for (const auto& [name, value] : vm.contexts) out["contexts"][name] = ToJson(value);
  return out;
}

json DeviceJson(const CountingSettings& settings) {
  json out = json::object();
  for (const auto& [name, group] : settings.groups) out["groups"][name] = GroupJson(group);
  for (const auto& [name, vm] : settings.vms) out["vms"][name] = VmJson(vm);
  return out;
}

// The first line. The checksum is of what follows it.
std::string TitleOf(const std::string& body) {
  return absl::StrCat(kTitle, absl::Hex(Crc32c(AsBytes(body)), absl::kZeroPad8), "\n");
}

absl::Status CheckTitle(const std::string& text, const std::string& path) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return absl::InvalidArgumentError(path + ":1: ends too early");
  if (!text.starts_with(kTitle)) return absl::InvalidArgumentError(path + ":1: not a file of this version");
  const bool is_whole = text.starts_with(TitleOf(text.substr(end + 1)));
  return is_whole ? absl::OkStatus() : absl::InvalidArgumentError(path + ":1: the checksum is wrong: cut or changed");
}

// In a sticky folder, such as /tmp, every user may have created the file.
absl::Status CheckOwner(const Descriptor& file, const std::string& path) {
  struct stat info;
  if (fstat(file.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_uid == geteuid() || info.st_uid == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path, ": belongs to user ", info.st_uid, " (chown it)"));
}

bool NamesVmsByUuid(const CountingSettings& settings) {
  for (const auto& [name, vm] : settings.vms) {
    if (!Uuid::Parse(name).ok()) return false;
  }
  return true;
}

}  // namespace

std::string EncodeSettings(const Uuid& device, const CountingSettings& settings) {
  const json root = {{"version", 1}, {"devices", {{device.ToString(), DeviceJson(settings)}}}};
  // Names are printable, as the catalogue's decoder has checked; nothing of one may throw here.
  const std::string body = root.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return TitleOf(body) + body;
}

absl::StatusOr<CountingSettings> DecodeSettings(const std::string& text, const std::string& path, const Uuid& device) {
  SIDEBAND_RETURN_IF_ERROR(CheckTitle(text, path));
  ErrorList errors;
  DeviceSettings devices = ParseCountingFile(text, path, errors, CountingKeys::kCallers);
  if (!errors.empty()) return errors.First();
  const auto found = devices.find(device.ToString());
  if (found == devices.end()) return absl::InvalidArgumentError(path + ":2: belongs to another device");
  if (!NamesVmsByUuid(found->second)) return absl::InvalidArgumentError(path + ":2: a VM has no UUID");
  return std::move(found->second);
}

std::string SettingsFiles::PathOf(const Uuid& device) const {
  return absl::StrCat(folder_, "/counting-", device.ToString());
}

absl::StatusOr<CountingSettings> SettingsFiles::Load(const Uuid& device) {
  const std::string path = PathOf(device);
  SIDEBAND_ASSIGN_OR_RETURN(const Descriptor file, OpenForReading(path, FileTrust::kNotWritable));
  SIDEBAND_RETURN_IF_ERROR(CheckOwner(file, path));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadDescriptor(file.get(), path, kSettingsFileMax));
  return DecodeSettings(text, path, device);
}

absl::Status SettingsFiles::Save(const Uuid& device, const CountingSettings& settings) {
  const std::string path = PathOf(device), text = EncodeSettings(device, settings);
  if (text.size() > kSettingsFileMax) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": larger than ", kSettingsFileMax, " bytes"));
  }
  return ReplaceFile(path, text, FileSync::kSynced);
}

}  // namespace sideband::daemon

// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/restart_needs.h"

#include <algorithm>

namespace sideband::daemon {
namespace {

struct Setting {
  const char* name;
  bool (*is_equal)(const Config& a, const Config& b);
};

bool HaveSameAddress(const ListenerConfig& a, const ListenerConfig& b) {
  return a.on_network == b.on_network && a.listen == b.listen;
}

bool HaveSameKeys(const Config& a, const Config& b) {
  return std::ranges::equal(a.vm_keys, b.vm_keys, [](const VmKeyConfig& one, const VmKeyConfig& other) {
    return one.vm == other.vm && one.key_file == other.key_file;
  });
}

// Compares the token settings with `is_equal` if both configurations have tokens; otherwise returns true, since the
// setting "tokens" covers that difference.
template <typename Equal>
bool AreEqualTokens(const Config& a, const Config& b, Equal is_equal) {
  return !a.tokens || !b.tokens || is_equal(*a.tokens, *b.tokens);
}

constexpr Setting kSettings[] = {
    {"grpc.listen", [](const Config& a, const Config& b) { return HaveSameAddress(a.grpc.listener, b.grpc.listener); }},
    {"grpc.tls_server_config",
     [](const Config& a, const Config& b) { return a.grpc.listener.tls == b.grpc.listener.tls; }},
    {"grpc.unix_socket",
     [](const Config& a, const Config& b) { return a.grpc.listener.unix_socket == b.grpc.listener.unix_socket; }},
    {"grpc.reflection", [](const Config& a, const Config& b) { return a.grpc.reflection == b.grpc.reflection; }},
    {"grpc.max_connection_age",
     [](const Config& a, const Config& b) {
       return a.grpc.listener.max_connection_age == b.grpc.listener.max_connection_age;
     }},
    {"http.listen", [](const Config& a, const Config& b) { return HaveSameAddress(a.http.listener, b.http.listener); }},
    {"http.tls_server_config",
     [](const Config& a, const Config& b) { return a.http.listener.tls == b.http.listener.tls; }},
    {"http.unix_socket",
     [](const Config& a, const Config& b) { return a.http.listener.unix_socket == b.http.listener.unix_socket; }},
    {"http.redfish", [](const Config& a, const Config& b) { return a.http.redfish == b.http.redfish; }},
    {"http.max_connection_age",
     [](const Config& a, const Config& b) {
       return a.http.listener.max_connection_age == b.http.listener.max_connection_age;
     }},
    {"local_operators", [](const Config& a, const Config& b) { return a.local_operators == b.local_operators; }},
    {"log.format", [](const Config& a, const Config& b) { return a.log.format == b.log.format; }},
    {"marks", [](const Config& a, const Config& b) { return a.marks == b.marks; }},
    {"quotas", [](const Config& a, const Config& b) { return a.quotas == b.quotas; }},
    {"tokens", [](const Config& a, const Config& b) { return a.tokens.has_value() == b.tokens.has_value(); }},
    {"tokens.audience",
     [](const Config& a, const Config& b) {
       return AreEqualTokens(a, b, [](const auto& one, const auto& other) { return one.audience == other.audience; });
     }},
    {"tokens.issuer",
     [](const Config& a, const Config& b) {
       return AreEqualTokens(a, b, [](const auto& one, const auto& other) { return one.issuer == other.issuer; });
     }},
    {"sealing.vm_keys", HaveSameKeys},
    {"sealing.exchange", [](const Config& a, const Config& b) { return a.sealing_file == b.sealing_file; }},
    {"audit", [](const Config& a, const Config& b) { return a.audit == b.audit; }},
    {"state_dir", [](const Config& a, const Config& b) { return a.state_dir == b.state_dir; }},
    {"ports_file", [](const Config& a, const Config& b) { return a.ports_file == b.ports_file; }},
};

}  // namespace

std::vector<std::string> RestartNeeds(const Config& in_force, const Config& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, is_equal] : kSettings) {
    if (!is_equal(in_force, wanted)) names.emplace_back(name);
  }
  return names;
}

}  // namespace sideband::daemon

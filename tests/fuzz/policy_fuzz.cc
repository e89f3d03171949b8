// SPDX-License-Identifier: Apache-2.0
//
// A policy file. An accepted policy gives no resource to two principals and decides about every resource that it names.
#include "daemon/authz/absent_names.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using daemon::Principal;
using daemon::Resource;
using daemon::Right;

void CheckTenant(const daemon::Policy& policy, size_t index, std::set<Uuid>& vms) {
  const Principal tenant{.tenant = index};
  const Principal auditor{.role = Principal::Role::kAuditor};
  for (const daemon::VmGrant& grant : policy.tenants()[index].vms) {
    FUZZ_CHECK(vms.insert(grant.vm).second && !grant.vm.is_nil() && grant.line > 0);
    FUZZ_CHECK(policy.tenants()[index].FindVm(grant.vm) == &grant);
    const Resource secret = Resource::Vm(grant.vm, /*confidential=*/true);
    FUZZ_CHECK(!Decide(policy, tenant, secret, Right::kRead).allowed);
    FUZZ_CHECK(Decide(policy, tenant, Resource::VmIdentity(grant.vm, true), Right::kRead).allowed);
    FUZZ_CHECK(!Decide(policy, auditor, Resource::Vm(grant.vm, false), Right::kRead).allowed);
  }
}

std::vector<Bytes> Seeds() {
  return {BytesOf("version: 1\n"), BytesOf(R"(version: 1
allow_absent_vms: true
operators: [{name: ops, identities: ["spiffe://e.org/ops", "dns:p.e.org"]}]
auditors: [{name: audit, identities: ["jwt:system:serviceaccount:a:b"]}]
event_groups: {compute: [sm, warps]}
tenants:
  - name: a
    identities: ["spiffe://e.org/a"]
    vms:
      - {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, contexts: [c], events: ["@compute", x], rights: [read, seal]}
      - uuid: 7f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10
  - {name: b, identities: ["jwt:b"]}
)")};
}

int RunInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto policy = daemon::Policy::Parse(text, "policy.yaml");
  if (!policy.ok()) {
    FUZZ_CHECK(policy.status().code() == absl::StatusCode::kInvalidArgument);
    FUZZ_CHECK(policy.status().message().substr(0, 12) == "policy.yaml:");
    return 0;
  }
  std::set<Uuid> vms;
  for (size_t i = 0; i < (*policy)->tenants().size(); ++i) fuzz::CheckTenant(**policy, i, vms);
  const size_t absent_vms = (*policy)->allows_absent_vms() ? 0 : vms.size();
  const size_t absent_events = (*policy)->allows_absent_events() ? 0 : (*policy)->named_events().size();
  FUZZ_CHECK(daemon::AbsentNames(**policy, {}).size() == absent_vms + absent_events);
  FUZZ_CHECK(!(*policy)->Find("").has_value());
  return 0;
}

FUZZ_TARGET(policy_fuzz);

}  // namespace
}  // namespace sideband::fuzz

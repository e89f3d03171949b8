// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"
#include "daemon/http/status_page.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/sensor_queries.h"

namespace sideband::daemon {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

TEST(PollAuditTest, OnceAMinuteForEachIdentity) {
  PollAudit audit;
  EXPECT_TRUE(audit.IsDue("a", absl::Seconds(0)));
  EXPECT_FALSE(audit.IsDue("a", absl::Seconds(59)));
  EXPECT_TRUE(audit.IsDue("b", absl::Seconds(59)));
  EXPECT_TRUE(audit.IsDue("a", absl::Seconds(60)));
  EXPECT_FALSE(audit.IsDue("a", absl::Seconds(61)));
}

TEST(PollAuditTest, AuditsMoreRatherThanLess) {
  PollAudit audit;
  for (size_t i = 0; i <= PollAudit::kIdentitiesMax; ++i) EXPECT_TRUE(audit.IsDue(absl::StrCat(i), absl::Seconds(1)));
  EXPECT_TRUE(audit.IsDue("0", absl::Seconds(1))) << "forgotten";
}

TEST(RedfishResponseTest, EitherFieldHasTheToken) {
  struct Row {
    std::optional<std::string> authorization, session, token;
  };
  for (const Row& row : {Row{std::nullopt, std::nullopt, std::nullopt}, Row{"a", std::nullopt, "a"},
                         Row{std::nullopt, "a", "a"}, Row{"a", "a", "a"}, Row{"a", "b", ""}, Row{"a", "", ""},
                         // Another scheme than Bearer is an empty token already.
                         Row{"", "a", ""}}) {
    EXPECT_EQ(BearerTokenOf({.session_token = row.session, .credentials = {.bearer_token = row.authorization}}),
              row.token);
  }
}

TEST(RedfishResponseTest, ADocument) {
  const HttpResponse response =
      RedfishResponse(RedfishDocument{"application/json", "{}", "http://x/y.json"}, "/redfish/v1");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body.ToString(), "{}");
  EXPECT_THAT(response.fields, Contains(Pair("OData-Version", "4.0")));
  EXPECT_THAT(response.fields, Contains(Pair("Allow", "GET, HEAD")));
  EXPECT_THAT(response.fields, Contains(Pair("Link", "<http://x/y.json>; rel=describedby")));
}

TEST(RedfishResponseTest, AnError) {
  const HttpResponse response = RedfishResponse(absl::NotFoundError(""), "/redfish/v1/\xFF");
  EXPECT_EQ(response.status, 404);
  const auto body = nlohmann::json::parse(response.body.ToString());
  EXPECT_EQ(body["error"]["code"], "Base.1.16.ResourceMissingAtURI");
  EXPECT_THAT(response.fields, Contains(Pair("OData-Version", "4.0")));
}

TEST(RedfishResponseTest, OtherVersionsOfODataAreRefused) {
  const RedfishDocument document = {"application/json", "{}", ""};
  EXPECT_TRUE(CheckedVersion({}, document).ok());
  EXPECT_TRUE(CheckedVersion({.odata_version = "4.0"}, document).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckedVersion({.odata_version = "4.01"}, document).status()));
  EXPECT_EQ(RedfishResponse(CheckedVersion({.odata_version = "3.0"}, document), "/").status, 412);
}

TEST(RedfishResponseTest, OtherMethods) { EXPECT_EQ(RedfishMethodResponse().status, 405); }

// Makes what the work queue would.
HttpResponse Made(const HttpResponse& response) {
  return response.work == nullptr ? response : response.work->make(absl::OkStatus());
}

class SiteTest : public testing::Test {
 protected:
  HttpResponse Get(const std::string& who, const std::string& target) {
    return Made(site_.Handle({.method = "GET", .target = target, .credentials = CredentialsOf(who)}));
  }

  FakeWorld world_;
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  const FakePast past_{world_};
  BoardStore boards_;
  PageData page_{
      {.reader = world_.reader, .history = past_.reader, .metrics = *metrics_, .version = "1", .boards = &boards_}};
  const TargetList targets_{{{{.targets = {"host-1:9877"}}}}};
  const SensorQueries sensors_{world_.reader, boards_};
  const RedfishService redfish_{sensors_};
  Site site_{world_.reader,
             *metrics_,
             world_.clock,
             {.page = &page_, .targets = &targets_, .boards = &boards_, .redfish = &redfish_}};
};

TEST_F(SiteTest, MatrixOfStatuses) {
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  struct Row {
    const char* target;
    int ops, tenant, stranger;
  };
  for (const Row& row : {Row{"/metrics", 200, 200, 403},
                         Row{"/", 200, 200, 403},
                         Row{"/-/healthy", 200, 200, 200},
                         Row{"/-/ready", 200, 200, 200},
                         Row{"/metrics/", 404, 404, 404},
                         Row{"/metrics?x=1", 400, 400, 403},
                         Row{"/page/status", 200, 200, 403},
                         Row{"/page/history?event=cycles&seconds=9", 200, 200, 403},
                         Row{"/page/history", 400, 400, 403},
                         Row{"/page", 404, 404, 404},
                         Row{"/sd", 200, 404, 403},
                         Row{"/redfish", 200, 200, 200},
                         Row{"/redfish/v1/", 200, 200, 200},
                         Row{"/redfish/v1/Chassis", 200, 200, 403},
                         Row{"/redfish/v1/Chassis/gpu0/Sensors", 200, 404, 403},
                         Row{"/redfish/v1/Chassis/gpu9", 404, 404, 403},
                         Row{"/redfish/v1/?$expand=.", 501, 501, 501},
                         Row{"/redfish/v1/Chassis?$expand=.", 200, 200, 403},
                         Row{"/redfish/v1/Chassis/gpu0/Sensors?$expand=*", 200, 404, 403},
                         Row{"/redfish/v1/Chassis?$expand=.($levels=2)", 400, 400, 403},
                         Row{"/redfish/v1/Chassis?$expand=x", 400, 400, 403},
                         Row{"/redfish/v1/Chassis?$select=Name", 501, 501, 403},
                         Row{"/redfish/v1/Chassis/gpu0?$top=1", 400, 400, 403},
                         Row{"/redfish/%zz", 400, 400, 403},
                         Row{"/redfishes", 404, 404, 404},
                         Row{"/nothing", 404, 404, 404},
                         Row{"", 404, 404, 404}}) {
    EXPECT_EQ(Get("ops", row.target).status, row.ops) << row.target;
    EXPECT_EQ(Get("tenant-a", row.target).status, row.tenant) << row.target;
    EXPECT_EQ(Get("stranger", row.target).status, row.stranger) << row.target;
  }
}

// The server counts connections by this identity.
TEST_F(SiteTest, AnAnswerSaysWhoAsked) {
  world_.Publish(0, 1);
  EXPECT_EQ(Get("tenant-a", "/metrics").identity, "spiffe://example.org/tenant-a");
  EXPECT_EQ(Get("ops", "/").identity, "spiffe://example.org/ops");
  EXPECT_EQ(Get("stranger", "/metrics").identity, "");
  EXPECT_EQ(Get("ops", "/-/healthy").identity, "") << "nobody is asked who they are";
}

TEST_F(SiteTest, OperatorsAloneSeeTheBoardsWhileTheyAnswer) {
  world_.Publish(0, 1);
  const std::string tenants_page = Get("tenant-a", "/page/status").body.ToString();
  BoardReading reading;
  reading.samples[BoardGroup::kPower] = {world_.clock.Steady(), world_.clock.Now()};
  reading.power.watts[mailbox::PowerSource::kTotal] = 250;
  boards_.SetSettings(0, {.is_read = true});
  boards_.Publish(0, std::make_shared<const BoardReading>(reading));
  const auto watts = HasSubstr("sideband_power_watts{device=\"gpu0\",sensor=\"total\"} 250\n");
  EXPECT_THAT(Get("ops", "/metrics").body.ToString(), watts);
  EXPECT_THAT(Get("tenant-a", "/metrics").body.ToString(), Not(HasSubstr("sideband_power_watts")));
  EXPECT_THAT(Get("ops", "/metrics?scope=vm").body.ToString(), Not(HasSubstr("sideband_power_watts")));
  EXPECT_THAT(Get("ops", "/page/status").body.ToString(), HasSubstr(R"("powers":[{"name":"total","value":250.0}])"));
  EXPECT_EQ(Get("tenant-a", "/page/status").body.ToString(), tenants_page);
  world_.clock.Advance(absl::Seconds(61));
  EXPECT_THAT(Get("ops", "/metrics").body.ToString(), Not(HasSubstr("sideband_power_watts")));
}

TEST_F(SiteTest, OnlyGetAndHead) {
  EXPECT_EQ(site_.Handle({.method = "HEAD", .target = "/-/healthy"}).status, 200);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", ""}) {
    EXPECT_EQ(site_.Handle({.method = method, .target = "/-/healthy"}).status, 405) << method;
  }
}

TEST_F(SiteTest, RedfishAnswersInItsOwnForm) {
  world_.Publish(0, 1);
  const auto version = testing::Contains(testing::Pair("OData-Version", "4.0"));
  const HttpResponse chassis = Get("tenant-a", "/redfish/v1/Chassis");
  EXPECT_EQ(chassis.identity, "spiffe://example.org/tenant-a");
  EXPECT_THAT(chassis.body.ToString(), HasSubstr(R"("Members@odata.count":1)"));
  EXPECT_THAT(chassis.fields, version);
  const HttpResponse absent = Get("tenant-a", "/redfish/v1/Chassis/gpu1");
  EXPECT_THAT(absent.body.ToString(), HasSubstr("Base.1.16.ResourceMissingAtURI"));
  EXPECT_THAT(absent.fields, version);
  EXPECT_THAT(Get("stranger", "/redfish/v1/Chassis").body.ToString(), HasSubstr("Base.1.16.InsufficientPrivilege"));
  EXPECT_EQ(Get("stranger", "/redfish/v1/Chassis/gpu0").body.ToString(),
            Get("stranger", "/redfish/v1/Chassis/gpu9").body.ToString());
  for (const char* target : {"/redfish/v1/Chassis", "/redfish/v1/SessionService/Sessions", "/redfish/nothing"}) {
    const HttpResponse post = site_.Handle({.method = "POST", .target = target, .credentials = CredentialsOf("ops")});
    EXPECT_EQ(post.status, 405) << target;
    EXPECT_THAT(post.body.ToString(), HasSubstr("Base.1.16.OperationNotAllowed"));
  }
  EXPECT_EQ(site_.Handle({.method = "GET", .target = "/redfish", .odata_version = "4.01"}).status, 412);
}

TEST_F(SiteTest, RequestsForRedfishAreAuditedAndCounted) {
  world_.Publish(0, 1);
  Get("tenant-a", "/redfish/v1/Chassis?$top=1");
  Get("tenant-a", "/redfish/v1/Chassis/gpu1");
  Get("stranger", "/redfish/v1/Chassis");
  Get("stranger", "/redfish/v1/");
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 3u) << "the root says nothing of this host";
  EXPECT_EQ(told[0].endpoint, "GET /redfish");
  EXPECT_EQ(told[0].resource, "/redfish/v1/Chassis?$top=1");
  EXPECT_EQ(told[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(told[1].decision, AuditDecision::kDeny);
  EXPECT_EQ(told[2].decision, AuditDecision::kDeny);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_http_requests_total{code=\"404\",path=\"/redfish\"} 1\n"));
}

TEST_F(SiteTest, MetricsAreTheCallersOwn) {
  world_.Publish(0, 1);
  const HttpResponse tenant = Get("tenant-a", "/metrics");
  EXPECT_EQ(tenant.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(tenant.body.ToString(), HasSubstr("vm=\"vm0\",context=\"render\"} 1020\n"));
  EXPECT_THAT(tenant.body.ToString(), Not(HasSubstr("vm1")));
  EXPECT_THAT(tenant.body.ToString(), Not(HasSubstr("sideband_build_info"))) << "the daemon's own are the operator's";
  EXPECT_THAT(Get("ops", "/metrics").body.ToString(), HasSubstr("sideband_build_info{version=\"1\"} 1\n"));
}

TEST_F(SiteTest, WhatIsRenderedHasALane) {
  using Lane = WorkQueue::Lane;
  world_.Publish(0, 1);
  struct Row {
    const char* who;
    const char* target;
    std::optional<Lane> lane;
  };
  for (const Row& row :
       {Row{"ops", "/metrics", Lane::kScrapes}, Row{"ops", "/metrics?event[]=cycles", Lane::kQueries},
        Row{"ops", "/redfish/v1/Chassis", Lane::kQueries},
        Row{"ops", "/page/history?event=cycles&seconds=9", Lane::kHistories}, Row{"ops", "/", std::nullopt},
        Row{"ops", "/sd", std::nullopt}, Row{"tenant-a", "/metrics", Lane::kScrapes},
        Row{"tenant-a", "/metrics?event[]=cycles", Lane::kQueries}, Row{"tenant-a", "/page/status", Lane::kQueries},
        Row{"tenant-a", "/page/history?event=cycles&seconds=9", Lane::kHistories},
        Row{"tenant-a", "/redfish/v1/Chassis", Lane::kQueries},
        Row{"tenant-a", "/redfish/v1/Chassis?$expand=.", Lane::kQueries}, Row{"tenant-a", "/redfish/v1", std::nullopt},
        Row{"tenant-a", "/-/healthy", std::nullopt}, Row{"stranger", "/metrics", std::nullopt}}) {
    const HttpResponse response =
        site_.Handle({.method = "GET", .target = row.target, .credentials = CredentialsOf(row.who)});
    ASSERT_EQ(response.work != nullptr, row.lane.has_value()) << row.who << row.target;
    if (row.lane) EXPECT_EQ(response.work->lane, *row.lane) << row.who << row.target;
    if (row.lane) EXPECT_EQ(response.work->is_operator, std::string(row.who) == "ops") << row.target;
    if (row.lane) EXPECT_FALSE(response.identity.empty()) << "whose budget it uses";
  }
}

TEST_F(SiteTest, WhoIsRevokedMeanwhileGetsNothing) {
  world_.Publish(0, 1);
  for (const char* target : {"/metrics", "/page/status", "/redfish/v1/Chassis"}) {
    const HttpResponse asked =
        site_.Handle({.method = "GET", .target = target, .credentials = CredentialsOf("tenant-a")});
    world_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
    EXPECT_EQ(asked.work->make(absl::OkStatus()).status, 403) << target;
    world_.policy.Replace(FakePolicy());
  }
}

TEST_F(SiteTest, WhatTheQueueRefusesMayBeAskedForLater) {
  const absl::Status why = WithRetryAfter(absl::ResourceExhaustedError("used up"), absl::Milliseconds(1200));
  for (const char* target : {"/metrics", "/redfish/v1/Chassis", "/redfish/v1/Chassis?$expand=."}) {
    const HttpResponse response =
        site_.Handle({.method = "GET", .target = target, .credentials = CredentialsOf("tenant-a")}).work->make(why);
    EXPECT_EQ(response.status, 429);
    EXPECT_THAT(response.fields, testing::Contains(testing::Pair("Retry-After", "2")));
    EXPECT_THAT(response.body.ToString(), HasSubstr(*target == '/' && target[1] == 'm' ? "used up" : "Retry in 2"));
  }
  EXPECT_EQ(world_.audit.Entries(AuditKind::kAccess).size(), 1u) << "a flood does not push older entries out";
}

TEST_F(SiteTest, OpenMetricsAndGzipWhereTheyAreAccepted) {
  world_.Publish(0, 1);
  const auto get = [&](const std::string& who, const char* accept, const char* encoding) {
    return Made(site_.Handle({.method = "GET",
                              .target = "/metrics",
                              .accept = accept,
                              .accept_encoding = encoding,
                              .credentials = CredentialsOf(who)}));
  };
  const HttpResponse open_metrics = get("ops", "application/openmetrics-text;version=1.0.0", "");
  EXPECT_EQ(open_metrics.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(open_metrics.content_encoding, "");
  const std::string text = open_metrics.body.ToString();
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
  EXPECT_EQ(text.find("# EOF"), text.size() - 6) << "once";
  EXPECT_THAT(text, HasSubstr("# TYPE sideband_build_info gauge\n")) << "the daemon's own, too";
  const HttpResponse zipped = get("ops", "", "gzip");
  EXPECT_EQ(zipped.content_encoding, "gzip");
  EXPECT_THAT(zipped.body.ToString(), StartsWith("\x1f\x8b"));
}

TEST_F(SiteTest, AQueryNarrows) {
  world_.Publish(0, 1);
  const std::string vms = Get("ops", "/metrics?event[]=cycles&scope=vm").body.ToString();
  EXPECT_THAT(vms, HasSubstr("sideband_vm_cycles_total{device=\"gpu0\",slice=\"0\",vm=\"vm0\"} 1010\n"));
  EXPECT_THAT(vms, Not(HasSubstr("sideband_device_cycles_total{device=\"gpu0\"} ")));
  EXPECT_THAT(vms, Not(HasSubstr("dram_bytes")));
  EXPECT_THAT(vms, Not(HasSubstr("sideband_build_info"))) << "who asks for events gets events";
}

TEST_F(SiteTest, AQueryTakesTheNamesThatScreensShow) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[1].name = "dram_read_cycles";
  catalog.events[1].unit = "cycles";
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/6);
  world_.Publish(0, 1);
  const std::string by_full_name = Get("ops", "/metrics?event[]=dram_read_cycles&scope=vm").body.ToString();
  EXPECT_THAT(by_full_name, HasSubstr("sideband_vm_dram_read_cycles_total{"));
  EXPECT_EQ(Get("ops", "/metrics?event[]=dram_read&scope=vm").body.ToString(), by_full_name);
  const HttpResponse part = Get("ops", "/metrics?event[]=dram");
  EXPECT_EQ(part.status, 404);
  EXPECT_EQ(part.body.ToString(), "no such event: 'dram' (did you mean 'dram_read_cycles'?)\n");
  EXPECT_EQ(Get("tenant-b", "/metrics?event[]=dram_read").body.ToString(), "no such event: 'dram_read'\n") << "denied";
}

TEST_F(SiteTest, BeforeTheFirstSnapshotAQueryHearsThatTheDevicesAreDown) {
  for (const char* who : {"ops", "tenant-b"}) {
    const HttpResponse answer = Get(who, "/metrics?event[]=cycles");
    EXPECT_EQ(answer.status, 200) << who;
    EXPECT_THAT(answer.body.ToString(), HasSubstr("sideband_device_up{device=\"gpu0\"} 0\n")) << who;
  }
}

TEST_F(SiteTest, ADeniedEventIsAnAbsentOne) {
  world_.Publish(0, 1);
  const HttpResponse denied = Get("tenant-b", "/metrics?event[]=dram_bytes");
  const HttpResponse absent = Get("tenant-b", "/metrics?event[]=no_such_thing");
  EXPECT_EQ(denied.status, 404);
  EXPECT_EQ(denied.status, absent.status);
  EXPECT_EQ(denied.body.ToString(), "no such event: 'dram_bytes'\n");
  EXPECT_EQ(absent.body.ToString(), "no such event: 'no_such_thing'\n");
  EXPECT_EQ(Get("tenant-b", "/metrics?event[]=cycels").body.ToString(),
            "no such event: 'cycels' (did you mean 'cycles'?)\n");
  EXPECT_EQ(Get("tenant-b", "/metrics?event[]=cycles").status, 200);
}

TEST_F(SiteTest, TheAuditLogIsTheAuditorsAlone) {
  Site site(world_.reader, *metrics_, world_.clock, {.audit_log = [](uint64_t after, size_t) {
              return absl::StatusOr<std::string>(absl::StrCat("{\"after\":", after, "}\n"));
            }});
  const auto get = [&](const std::string& who, const std::string& target) {
    return Made(site.Handle({.method = "GET", .target = target, .credentials = CredentialsOf(who)}));
  };
  EXPECT_EQ(get("auditor", "/audit?after=7").body.ToString(), "{\"after\":7}\n");
  EXPECT_EQ(get("auditor", "/audit").content_type, "application/x-ndjson");
  EXPECT_EQ(get("auditor", "/audit?before=7").status, 400);
  for (const char* who : {"ops", "tenant-a"}) {
    EXPECT_EQ(get(who, "/audit").status, 404);
    EXPECT_EQ(get(who, "/audit").body.ToString(), get(who, "/nothing").body.ToString());
  }
  EXPECT_EQ(get("stranger", "/audit").status, 403);
  EXPECT_EQ(Get("auditor", "/audit").status, 404) << "no log is kept";
}

TEST_F(SiteTest, EveryTenantHasNoByteOfAnother) {
  world_.Publish(0, 1);
  const std::vector<std::pair<std::string, std::vector<std::string>>> names = {
      {"tenant-a", {"vm0", "render", "compute", kVm0Uuid}},
      {"tenant-b", {"vm1", "train", kVm1Uuid}},
      {"tenant-c", {"secret", kSecretUuid}}};
  for (const auto& [who, own] : names) {
    for (const char* target : {"/metrics", "/page/status", "/page/history?event=cycles&seconds=60", "/sd", "/-/ready",
                               "/redfish/v1/TelemetryService/MetricReports/Counters", "/-/healthy", "/nothing"}) {
      for (const auto& [other, foreign] : names) {
        for (const std::string& word : foreign) {
          if (other == who) continue;
          EXPECT_THAT(Get(who, target).body.ToString(), Not(HasSubstr(word))) << who << " " << target;
        }
      }
    }
  }
}

TEST_F(SiteTest, ReadySaysWhyToThoseWhoSeeTheDevice) {
  EXPECT_EQ(Get("ops", "/-/ready").body.ToString(), "gpu0: away, no snapshot yet\ngpu1: away, no snapshot yet\n");
  EXPECT_EQ(Get("tenant-a", "/-/ready").body.ToString(), "not ready\n");
  world_.Publish(0, 1);
  EXPECT_EQ(Get("ops", "/-/ready").status, 503) << "gpu1 is away";
  EXPECT_EQ(Get("tenant-a", "/-/ready").status, 200);
  EXPECT_EQ(Get("tenant-a", "/-/ready").body.ToString(), "gpu0: fresh, 0.0s old\n");
  EXPECT_EQ(Get("stranger", "/-/ready").body.ToString(), "not ready\n");
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_EQ(Get("tenant-a", "/-/ready").status, 503);
  EXPECT_EQ(Get("tenant-a", "/-/ready").body.ToString(), "gpu0: stale, 4.0s old\n");
}

TEST_F(SiteTest, ThePageMayRunItsOwnScriptOnly) {
  const HttpResponse page = Get("tenant-a", "/");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.content_security_policy, StartsWith("default-src 'none'; script-src 'sha256-"));
  EXPECT_EQ(page.body.ToString(), Get("ops", "/").body.ToString()) << "the data is requested separately";
  EXPECT_EQ(Get("ops", "/metrics").content_security_policy, "default-src 'none'");
}

TEST_F(SiteTest, ThePagesDataIsTheCallersOwn) {
  world_.Publish(0, 9);
  const HttpResponse tenant = Get("tenant-a", "/page/status");
  EXPECT_EQ(tenant.content_type, "application/json");
  EXPECT_THAT(tenant.body.ToString(), HasSubstr("\"context\":\"render\""));
  EXPECT_THAT(tenant.body.ToString(), HasSubstr("\"own_metrics\":[]"));
  EXPECT_THAT(Get("ops", "/page/status").body.ToString(), HasSubstr("sideband_config_last_reload_successful"));
}

TEST_F(SiteTest, AnEventThatTheCallerMayNotReadHasNoHistory) {
  world_.Publish(0, 1);
  const HttpResponse denied = Get("tenant-b", "/page/history?event=dram_bytes&seconds=60");
  const HttpResponse absent = Get("tenant-b", "/page/history?event=no_such_thing&seconds=60");
  EXPECT_EQ(denied.status, 404);
  EXPECT_EQ(denied.body.ToString(), absent.body.ToString());
}

TEST_F(SiteTest, OperatorsGetTheTargetsOfTheFleet) {
  const HttpResponse targets = Get("ops", "/sd");
  EXPECT_EQ(targets.content_type, "application/json");
  EXPECT_EQ(targets.body.ToString(), R"([{"labels":{},"targets":["host-1:9877"]}])");
  EXPECT_EQ(Get("tenant-a", "/sd").body.ToString(), Get("tenant-a", "/nothing").body.ToString());
}

TEST_F(SiteTest, WithoutSourcesThereIsNothing) {
  Site site(world_.reader, *metrics_, world_.clock, {});
  for (const char* target : {"/audit", "/sd", "/page/status", "/page/history?event=cycles&seconds=60", "/redfish"}) {
    EXPECT_EQ(Made(site.Handle({.method = "GET", .target = target, .credentials = CredentialsOf("ops")})).status, 404);
  }
}

TEST_F(SiteTest, TellsTheAuditLogOfEveryRequestForData) {
  world_.Publish(0, 1);
  Get("ops", "/metrics?event[]=cycles");
  for (int polls = 0; polls < 3; ++polls) Get("tenant-a", "/page/status");
  Get("stranger", "/metrics");
  for (const char* target : {"/-/healthy", "/-/ready", "/nothing"}) Get("ops", target);
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].principal, "spiffe://example.org/ops");
  EXPECT_EQ(told[0].endpoint, "GET /metrics");
  EXPECT_EQ(told[0].resource, "/metrics?event[]=cycles");
  EXPECT_EQ(told[0].decision, AuditDecision::kAllow);
  EXPECT_EQ(told[1].endpoint, "GET /page/status");
  EXPECT_EQ(told[1].role, "tenant:a");
  EXPECT_EQ(told[2].principal, "");
  EXPECT_EQ(told[2].decision, AuditDecision::kDeny);
  EXPECT_EQ(world_.audit.Entries(AuditKind::kView).size(), 2u) << "of gpu0, for each of the two";
}

TEST_F(SiteTest, CountsRequestsByKnownPaths) {
  Get("ops", "/-/healthy");
  Get("ops", "/made-up-by-the-client");
  const std::string own = metrics_->Serialize();
  EXPECT_THAT(own, HasSubstr("sideband_http_requests_total{code=\"200\",path=\"/-/healthy\"} 1\n"));
  EXPECT_THAT(own, HasSubstr("sideband_http_requests_total{code=\"404\",path=\"other\"} 1\n"));
  EXPECT_THAT(own, Not(HasSubstr("made-up")));
}

class SiteTokenTest : public SiteTest {
 protected:
  SiteTokenTest() {
    world_.policy.Replace(FakePolicy(), *KeySet::Parse(JwksOf({&issuer_}), "jwks.json"));
    world_.Publish(0, 1);
  }

  HttpResponse Ask(Credentials credentials, const std::string& target = "/metrics") {
    return Made(token_site_.Handle({.method = "GET", .target = target, .credentials = std::move(credentials)}));
  }
  std::string Token(const std::string& subject) const {
    return issuer_.Token(absl::StrCat(R"({"sub":")", subject, R"(","aud":"sideband","exp":)",
                                      absl::ToUnixSeconds(world_.clock.Now()) + 60, "}"));
  }

  const FakeIssuer issuer_ = FakeIssuer::Es256("k1");
  TokenVerifier tokens_{{.audience = "sideband"}, world_.clock};
  Reader token_reader_{world_.store, world_.policy, world_.clock, world_.audit, &tokens_};
  const SensorQueries token_sensors_{token_reader_, boards_};
  const RedfishService token_redfish_{token_sensors_};
  Site token_site_{token_reader_, *metrics_, world_.clock, {.redfish = &token_redfish_}};
};

TEST_F(SiteTokenTest, ATokenHasItsOwnersMetrics) {
  const HttpResponse metrics = Ask({.bearer_token = Token("spiffe://example.org/tenant-a")});
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.body.ToString(), HasSubstr("vm=\"vm0\",context=\"render\"} 1020\n"));
  EXPECT_THAT(metrics.body.ToString(), Not(HasSubstr("vm1")));
}

TEST_F(SiteTokenTest, NobodyIsToldTheSameWhateverTheReason) {
  Credentials two = CredentialsOf("tenant-a");
  two.bearer_token = Token("spiffe://example.org/ops");
  struct Row {
    Credentials credentials;
    int status;
  };
  for (const Row& row : {Row{{}, 401}, Row{CredentialsOf("stranger"), 401}, Row{{.bearer_token = ""}, 401},
                         Row{{.bearer_token = Token("spiffe://example.org/ops") + "A"}, 401},
                         Row{{.bearer_token = Token("stranger")}, 403}, Row{two, 403}}) {
    for (const char* target : {"/metrics", "/"}) {
      EXPECT_EQ(Ask(row.credentials, target).status, row.status) << target;
      EXPECT_EQ(Ask(row.credentials, target).body.ToString(),
                "the caller has no valid credentials, or is not in the policy\n");
    }
  }
  EXPECT_EQ(Ask(CredentialsOf("ops")).status, 200) << "certificates count as before";
  EXPECT_EQ(Ask({}, "/-/healthy").status, 200);
  EXPECT_EQ(Get("stranger", "/metrics").status, 403) << "where there are no tokens, none is asked for";
}

TEST_F(SiteTokenTest, RedfishTakesATokenInAFieldOfItsOwn) {
  const std::string operators = Token("spiffe://example.org/ops"), tenants = Token("spiffe://example.org/tenant-a");
  const auto ask = [&](const std::string& target, std::optional<std::string> session, Credentials credentials = {}) {
    return Made(token_site_.Handle({.method = "GET",
                                    .target = target,
                                    .session_token = std::move(session),
                                    .credentials = std::move(credentials)}));
  };
  const std::string chassis = "/redfish/v1/Chassis/gpu1";
  EXPECT_EQ(ask(chassis, operators).status, 200);
  EXPECT_EQ(ask(chassis, tenants).status, 404);
  EXPECT_EQ(ask(chassis, operators, {.bearer_token = operators}).status, 200);
  EXPECT_EQ(ask(chassis, operators, {.bearer_token = tenants}).status, 401) << "two tokens";
  EXPECT_EQ(ask(chassis, "x.y.z", CredentialsOf("ops")).status, 401) << "a bad token is no certificate's";
  EXPECT_EQ(ask(chassis, "").status, 401);
  EXPECT_EQ(ask(chassis, operators, CredentialsOf("tenant-a")).status, 403) << "ambiguous";
  EXPECT_EQ(ask(chassis, std::nullopt).status, 401);
  EXPECT_THAT(ask(chassis, std::nullopt).body.ToString(), HasSubstr("Base.1.16.NoValidSession"));
  EXPECT_EQ(ask("/metrics", operators).status, 401) << "other paths have no such field";
}

TEST_F(SiteTokenTest, ReadyIsAskedWithoutATokenOrWithAGoodOne) {
  world_.Publish(1, 1);
  const HttpResponse good = Ask({.bearer_token = Token("spiffe://example.org/tenant-a")}, "/-/ready");
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(good.body.ToString(), "gpu0: fresh, 0.0s old\ngpu1: fresh, 0.0s old\n");
  EXPECT_EQ(good.identity, "spiffe://example.org/tenant-a");
  EXPECT_EQ(Ask({}, "/-/ready").body.ToString(), "ready\n");
  EXPECT_EQ(Ask(CredentialsOf("stranger"), "/-/ready").body.ToString(), "ready\n");
  EXPECT_EQ(Ask(CredentialsOf("ops"), "/-/ready").identity, "");
  EXPECT_TRUE(world_.audit.Entries(AuditKind::kAccess).empty()) << "health is not told";
}

TEST_F(SiteTokenTest, ABadTokenIsBadAtReadyToo) {
  for (const auto& [token, status] : {std::pair<std::string, int>{Token("spiffe://example.org/ops") + "A", 401},
                                      std::pair<std::string, int>{"", 401},
                                      {Token("stranger"), 403}}) {
    const HttpResponse refused = Ask({.bearer_token = token}, "/-/ready");
    EXPECT_EQ(refused.status, status);
    EXPECT_EQ(refused.body.ToString(), "the caller has no valid credentials, or is not in the policy\n");
    EXPECT_EQ(refused.identity, "");
  }
  const std::vector<AuditEntry> told = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].endpoint, "GET /-/ready");
  EXPECT_EQ(told[0].resource, "/-/ready");
  EXPECT_EQ(told[0].decision, AuditDecision::kDeny);
  EXPECT_EQ(told[2].reason, "token: jwt:stranger is not in the policy");
}

TEST_F(SiteTokenTest, ATokenIsGoodUntilItExpires) {
  const Credentials credentials = {.bearer_token = Token("spiffe://example.org/ops")};
  EXPECT_EQ(Ask(credentials).status, 200);
  world_.clock.Advance(absl::Seconds(60) + kTokenLeeway);
  EXPECT_EQ(Ask(credentials).status, 401);
}

TEST_F(SiteTest, AuditorsGetNoCounters) {
  world_.policy.Replace(
      *Policy::Parse("version: 1\nauditors: [{name: x, identities: ['spiffe://example.org/audit']}]\n", "p.yaml"));
  world_.Publish(0, 1);
  EXPECT_EQ(Get("audit", "/metrics").status, 200);
  for (const char* target : {"/metrics", "/", "/page/status", "/-/ready"}) {
    for (const char* word : {"gpu0", "vm0", "sideband_device_", "sideband_build_info"}) {
      EXPECT_THAT(Get("audit", target).body.ToString(), Not(HasSubstr(word))) << target;
    }
  }
}

TEST(TargetListTest, ListsTheConfiguredGroups) {
  const TargetList targets({{{.targets = {"a:1", "b:2"}, .labels = {{"rack", "r\"1"}}}, {.targets = {"c:3"}}}});
  EXPECT_EQ(targets.Json("here:9877"),
            R"([{"labels":{"rack":"r\"1"},"targets":["a:1","b:2"]},{"labels":{},"targets":["c:3"]}])");
}

TEST(TargetListTest, WithoutGroupsListsTheDaemonItself) {
  const TargetList targets(std::nullopt);
  EXPECT_EQ(targets.Json("here:9877"), R"([{"labels":{},"targets":["here:9877"]}])");
  EXPECT_EQ(targets.Json(""), "[]") << "HTTP/1.0 has no Host";
  EXPECT_EQ(targets.Json("\"\xff"), "[{\"labels\":{},\"targets\":[\"\\\"\xef\xbf\xbd\"]}]");
}

TEST(TargetListTest, AnEmptyFileListsNoTarget) {
  EXPECT_EQ(TargetList(std::vector<TargetGroup>()).Json("here:9877"), "[]");
}

TEST(TargetListTest, IsReplaced) {
  TargetList targets(std::nullopt);
  targets.Replace({{{.targets = {"a:1"}}}});
  EXPECT_EQ(targets.Json("here:9877"), R"([{"labels":{},"targets":["a:1"]}])");
}

}  // namespace
}  // namespace sideband::daemon

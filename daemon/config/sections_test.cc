// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/config/config.h"
#include "daemon/config/config_context.h"

namespace sideband::daemon {
namespace {

// A helper for tests of section readers.
//
// Runs `read` on the configuration `text` and returns its result, or the first error. The text is treated as the file
// c.yaml in `folder` and may contain the keys `section` and `other`.
template <typename Reader>
auto ReadSection(const std::string& text, const std::string& section, Reader read, const std::string& folder = "")
    -> absl::StatusOr<std::invoke_result_t<Reader, const YamlMap&, const ConfigContext&>> {
  const auto document = YamlNode::Parse(text, "c.yaml");
  if (!document.ok()) return document.status();
  ErrorList errors;
  const auto root = document->Map({section, "other"}, errors);
  if (!root) return errors.First();
  auto value = read(*root, ConfigContext{.path = "c.yaml", .folder = folder, .errors = errors});
  if (!errors.empty()) return errors.First();
  return value;
}

class TargetConfigTest : public testing::Test {
 protected:
  absl::StatusOr<std::optional<std::vector<TargetGroup>>> Read(const std::string& file) const {
    std::ofstream(folder_ + "targets.yml") << file;
    return ReadSection("targets_file: targets.yml\n", "targets_file", ReadTargets, folder_);
  }
  std::string Error(const std::string& file) const {
    return absl::StrReplaceAll(std::string(Read(file).status().message()), {{folder_, ""}});
  }

  const std::string folder_ = testing::TempDir();
};

TEST_F(TargetConfigTest, ReadsGroups) {
  const auto groups = Read("- targets: ['a:1', 'b:2']\n  labels: {rack: r1, row: 7}\n- targets: ['c:3']\n");
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ((*groups)->size(), 2u);
  EXPECT_EQ((*groups)->at(0).targets, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ((*groups)->at(0).labels, (std::map<std::string, std::string>{{"rack", "r1"}, {"row", "7"}}));
  EXPECT_TRUE((*groups)->at(1).labels.empty());
}

TEST_F(TargetConfigTest, ReadsJson) {
  EXPECT_EQ((*Read(R"([{"targets": ["a:1"], "labels": {"rack": "r1"}}])"))->at(0).targets.at(0), "a:1");
}

TEST_F(TargetConfigTest, AnEmptyListHasNoTargets) {
  EXPECT_TRUE((*Read("[]\n"))->empty());
  EXPECT_TRUE((*Read("- targets: []\n"))->empty());
}

TEST_F(TargetConfigTest, AbsentMeansNone) {
  EXPECT_EQ(ReadSection("other: 1\n", "targets_file", ReadTargets)->has_value(), false);
}

TEST_F(TargetConfigTest, EveryMistakeHasItsLine) {
  EXPECT_EQ(Error("targets: []\n"), "targets.yml:1: expected a list");
  EXPECT_EQ(Error("- labels: {}\n"), "targets.yml:1: key 'targets' is missing");
  for (const std::string target : {"https://a:1", "b", "c:99999", "host:", ":9", "h:0", "h:+1", "a b:1"}) {
    EXPECT_EQ(Error("- targets: ['" + target + "']\n"), "targets.yml:1: '" + target + "' is not HOST:PORT");
  }
  EXPECT_EQ(Error("- targets: ['a:1']\n  labels: {a-b: x}\n"), "targets.yml:2: 'a-b' is not a label name");
  EXPECT_EQ(Error("- targets: ['a:1']\n  labels: {a: []}\n"), "targets.yml:2: expected a text");
  EXPECT_EQ(Error("- target: ['a:1']\n"), "targets.yml:1: unknown key 'target' (did you mean 'targets'?)");
}

TEST_F(TargetConfigTest, AFileHasABound) {
  EXPECT_THAT(Error(std::string((1 << 20) + 1, '#')), testing::HasSubstr("1048576"));
}

TEST_F(TargetConfigTest, AnAbsentFileIsReported) {
  const auto read = ReadSection("targets_file: none.yml\n", "targets_file", ReadTargets, folder_);
  EXPECT_EQ(absl::StrReplaceAll(std::string(read.status().message()), {{folder_, ""}}),
            "none.yml: No such file or directory");
}

absl::StatusOr<AuditConfig> ReadAudit(const std::string& text) {
  return ReadSection(text, "audit", ReadAuditConfig, testing::TempDir());
}

TEST(AuditConfigTest, TheFoldersAbsenceIsAnError) {
  EXPECT_EQ(ReadAudit("audit: {file: /absent/audit.jsonl}").status().message(),
            "c.yaml:1: /absent/audit.jsonl: its folder does not exist");
}

TEST(AuditConfigTest, IsOptional) { EXPECT_EQ(ReadAudit("other: 1")->file, ""); }

TEST(AuditConfigTest, HasDefaults) {
  std::filesystem::create_directory(testing::TempDir() + "/log");
  const auto config = ReadAudit("audit: {file: log/audit.jsonl}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->file, testing::TempDir() + "log/audit.jsonl");
  EXPECT_EQ(config->max_bytes, 16u << 20);
  EXPECT_EQ(config->files, 8u);
}

TEST(AuditConfigTest, ReadsEverything) {
  const auto config = ReadAudit("audit: {file: /var/log/audit.jsonl, max_bytes: 64KiB, files: 1}");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->file, "/var/log/audit.jsonl");
  EXPECT_EQ(config->max_bytes, 64u << 10);
  EXPECT_EQ(config->files, 1u);
}

TEST(AuditConfigTest, NamesTheLine) {
  struct Row {
    const char *text, *error;
  };
  for (const Row& row : {
           Row{"audit:\n  files: 3", "c.yaml:2: key 'file' is missing"},
           Row{"audit:\n  file: a\n  max_bytes: 65535", "c.yaml:3: '65535' is not from 64KiB to 1GiB"},
           Row{"audit:\n  file: a\n  max_bytes: 2GiB", "c.yaml:3: '2GiB' is not from 64KiB to 1GiB"},
           Row{"audit:\n  file: a\n  max_bytes: 16MB",
               "c.yaml:3: '16MB' is not a number of bytes, such as 512KiB or 16MiB"},
           Row{"audit:\n  file: a\n  files: 0", "c.yaml:3: expected a whole number from 1 to 1000"},
       }) {
    EXPECT_EQ(ReadAudit(row.text).status().message(), row.error);
  }
}

absl::StatusOr<ExpositionConfig> ReadExposition(const std::string& text) {
  return ReadSection(text, "exposition", ReadExpositionConfig);
}

TEST(ExpositionConfigTest, EverythingUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadExposition("other: 1")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {}")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {estimates: all}")->estimates, EstimateSeries::kAll);
  EXPECT_EQ(ReadExposition("exposition: {estimates: coverage}")->estimates, EstimateSeries::kCoverage);
  EXPECT_EQ(ReadExposition("exposition: {estimates: none}")->estimates, EstimateSeries::kNone);
}

TEST(ExpositionConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadExposition("exposition: {estimates: some}").status().message(),
            "c.yaml:1: 'some' is unknown, must be all, coverage or none");
  EXPECT_EQ(ReadExposition("exposition: {estimate: all}").status().message(),
            "c.yaml:1: unknown key 'estimate' (did you mean 'estimates'?)");
}

absl::StatusOr<HistoryConfig> ReadHistory(const std::string& text) {
  return ReadSection(text, "history", ReadHistoryConfig);
}

TEST(HistoryConfigTest, SixteenMebibytesUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadHistory("other: 1")->max_bytes, 16u << 20);
  EXPECT_EQ(ReadHistory("history: {}")->max_bytes, 16u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 64MiB}")->max_bytes, 64u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 0}")->max_bytes, 0u);
}

TEST(HistoryConfigTest, BothBoundsAreInside) {
  EXPECT_EQ(ReadHistory("history: {max_bytes: 1048576}")->max_bytes, 1u << 20);
  EXPECT_EQ(ReadHistory("history: {max_bytes: 16GiB}")->max_bytes, size_t{16} << 30);
  for (const char* text : {"1048575", "1", "17179869185", "17GiB"}) {
    const auto status = ReadHistory(std::string("history: {max_bytes: ") + text + "}").status();
    EXPECT_EQ(status.message(), std::string("c.yaml:1: '") + text + "' is neither 0 nor from 1MiB to 16GiB");
  }
}

TEST(HistoryConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadHistory("history: {max_bytes: lots}").status().message(),
            "c.yaml:1: 'lots' is not a number of bytes, such as 512KiB or 16MiB");
  EXPECT_EQ(ReadHistory("history: {max_byte: 1}").status().message(),
            "c.yaml:1: unknown key 'max_byte' (did you mean 'max_bytes'?)");
}

absl::StatusOr<PeekConfig> ReadPeek(const std::string& text) { return ReadSection(text, "peek", ReadPeekConfig); }

TEST(PeekConfigTest, ATenthUnlessItSaysOtherwise) {
  EXPECT_EQ(ReadPeek("other: 1")->bus_share, 0.1);
  EXPECT_EQ(ReadPeek("peek: {}")->bus_share, 0.1);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0.25}")->bus_share, 0.25);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0}")->bus_share, 0);
}

TEST(PeekConfigTest, BothBoundsAreInside) {
  EXPECT_EQ(ReadPeek("peek: {bus_share: 0.001}")->bus_share, 0.001);
  EXPECT_EQ(ReadPeek("peek: {bus_share: 1}")->bus_share, 1);
  for (const char* text : {"0.0009", "1.001", "-0.1", "1e-300", "nan", "inf", "10%", "lots", "[0.1]"}) {
    EXPECT_EQ(ReadPeek(std::string("peek: {bus_share: ") + text + "}").status().message(),
              "c.yaml:1: expected 0 or a number from 0.001 to 1, such as 0.1")
        << text;
  }
}

TEST(PeekConfigTest, MistakesAreNamed) {
  EXPECT_EQ(ReadPeek("peek: {bus_shar: 1}").status().message(),
            "c.yaml:1: unknown key 'bus_shar' (did you mean 'bus_share'?)");
}

absl::StatusOr<QuotaConfig> ReadQuotas(const std::string& text) { return ReadSection(text, "quotas", ReadQuotaConfig); }

TEST(QuotaConfigTest, HasDefaults) {
  EXPECT_EQ(*ReadQuotas("other: 1"), QuotaConfig());
  EXPECT_EQ(*ReadQuotas("quotas: {}"), QuotaConfig());
}

TEST(QuotaConfigTest, ReadsEverything) {
  const auto quotas =
      ReadQuotas("quotas: {calls_per_second: 1, burst: 2, calls_under_way: 3, bytes_under_way: 16MiB, streams: 4}");
  ASSERT_TRUE(quotas.ok()) << quotas.status();
  EXPECT_EQ(*quotas,
            (QuotaConfig{
                .calls_per_second = 1, .burst = 2, .calls_under_way = 3, .bytes_under_way = 16 << 20, .streams = 4}));
}

TEST(QuotaConfigTest, BoundsHoldAtBothEnds) {
  struct Row {
    const char* key;
    const char* least;
    const char* most;
    const char* below;
    const char* above;
    const char* error;
  };
  for (const Row& row :
       {Row{"calls_per_second", "1", "1000000", "0", "1000001", "expected a whole number from 1 to 1000000"},
        Row{"burst", "1", "1000000", "0", "1000001", "expected a whole number from 1 to 1000000"},
        Row{"calls_under_way", "1", "65536", "0", "65537", "expected a whole number from 1 to 65536"},
        Row{"streams", "1", "65536", "0", "65537", "expected a whole number from 1 to 65536"},
        Row{"bytes_under_way", "16MiB", "16GiB", "16777215", "17GiB", "is not from 16MiB to 16GiB"}}) {
    for (const char* good : {row.least, row.most}) {
      EXPECT_TRUE(ReadQuotas(absl::StrCat("quotas: {", row.key, ": ", good, "}")).ok()) << row.key;
    }
    for (const char* bad : {row.below, row.above}) {
      const auto read = ReadQuotas(absl::StrCat("quotas: {", row.key, ": ", bad, "}"));
      EXPECT_NE(read.status().message().find(row.error), absl::string_view::npos) << read.status();
    }
  }
}

absl::StatusOr<std::vector<RatioSpec>> RatiosIn(const std::string& text) {
  auto config = ReadSection(text, "ratios", ReadRatios);
  if (!config.ok()) return config.status();
  return config->ratios;
}

TEST(RatioConfigTest, ReadsWhatIsThere) {
  const auto ratios = *RatiosIn("ratios:\n  - {name: l2_hit, numerator: [hit], denominator: [hit, miss]}\n");
  ASSERT_EQ(ratios.size(), 1u);
  EXPECT_EQ(ratios[0].name, "l2_hit");
  EXPECT_EQ(ratios[0].Formula(), "hit / (hit + miss)");
  EXPECT_TRUE(RatiosIn("ratios: []\n")->empty());
}

TEST(RatioConfigTest, EachEventHasItsPlace) {
  const auto events =
      ReadSection("ratios:\n  - name: l2\n    numerator: [hit]\n    denominator:\n      - hit\n      - miss\n",
                  "ratios", ReadRatios)
          ->events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name + " " + events[0].place, "hit c.yaml:3");
  EXPECT_EQ(events[1].name + " " + events[1].place, "hit c.yaml:5");
  EXPECT_EQ(events[2].name + " " + events[2].place, "miss c.yaml:6");
}

TEST(RatioConfigTest, NamesWhatIsWrongAndWhere) {
  struct Row {
    const char* entry;
    const char* error;
  };
  for (const Row& row :
       {Row{"{name: L2, numerator: [a], denominator: [b]}", "ratio name 'L2' may hold a-z, 0-9 and _ only"},
        Row{"{name: 2l, numerator: [a], denominator: [b]}", "ratio name '2l' may hold a-z, 0-9 and _ only"},
        Row{"{name: gate_coverage, numerator: [a], denominator: [b]}",
            "ratio name 'gate_coverage' is the name of a metric of the daemon"},
        Row{"{name: x, numerator: [], denominator: [b]}", "numerator names no event"},
        Row{"{name: x, numerator: [a], denominator: [b, b]}", "denominator names an event twice"}}) {
    const auto read = RatiosIn(absl::StrCat("ratios:\n  - ", row.entry, "\n"));
    EXPECT_EQ(read.status().message(), absl::StrCat("c.yaml:2: ", row.error));
  }
  EXPECT_FALSE(RatiosIn("ratios:\n  - {name: x, numerator: [a]}\n").ok());
  EXPECT_EQ(
      RatiosIn(
          "ratios:\n  - {name: x, numerator: [a], denominator: [b]}\n  - {name: x, numerator: [a], denominator: [b]}\n")
          .status()
          .message(),
      "c.yaml:3: ratio 'x' is given twice");
}

class TokenConfigTest : public testing::Test {
 protected:
  TokenConfigTest() { std::ofstream(folder_ + "jwks.json") << "looked at elsewhere\n"; }

  absl::StatusOr<std::optional<TokenConfig>> Read(const std::string& text) const {
    return ReadSection("other: 1\n" + text, "tokens", ReadTokenConfig, folder_);
  }
  std::string Error(const std::string& text) const {
    return absl::StrReplaceAll(std::string(Read(text).status().message()), {{folder_, ""}});
  }

  const std::string folder_ = testing::TempDir();
};

TEST_F(TokenConfigTest, ReadsEverything) {
  const auto tokens = Read("tokens: {jwks_file: jwks.json, audience: sideband, issuer: 'https://i'}\n");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ((*tokens)->jwks_file, folder_ + "jwks.json");
  EXPECT_EQ((*tokens)->audience, "sideband");
  EXPECT_EQ((*tokens)->issuer, "https://i");
  EXPECT_EQ((*Read("tokens: {jwks_file: jwks.json, audience: a}\n"))->issuer, "") << "any";
}

TEST_F(TokenConfigTest, AbsentMeansNoTokens) { EXPECT_EQ(Read("")->has_value(), false); }

TEST_F(TokenConfigTest, EveryMistakeHasItsLine) {
  EXPECT_EQ(Error("tokens: {audience: a}\n"), "c.yaml:2: key 'jwks_file' is missing");
  EXPECT_EQ(Error("tokens: {jwks_file: jwks.json}\n"), "c.yaml:2: key 'audience' is missing");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audience: ''\n"), "c.yaml:4: expected a text");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audience: a\n  issuer: []\n"), "c.yaml:5: expected a text");
  EXPECT_EQ(Error("tokens:\n  jwks_file: absent.json\n  audience: a\n"),
            "c.yaml:3: absent.json: No such file or directory");
  EXPECT_EQ(Error("tokens:\n  jwks_file: .\n  audience: a\n"), "c.yaml:3: .: is a directory");
  EXPECT_EQ(Error("tokens:\n  jwks_file: jwks.json\n  audiance: a\n"),
            "c.yaml:4: unknown key 'audiance' (did you mean 'audience'?)");
  EXPECT_EQ(Error("tokens: []\n"), "c.yaml:2: expected a mapping (key: value)");
}

}  // namespace

}  // namespace sideband::daemon

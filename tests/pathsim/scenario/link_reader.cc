#include "tests/pathsim/scenario/link_reader.h"

#include <array>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/pathsim/packet/header.h"

namespace assay::pathsim {
namespace {

using document::YamlNode;
using Distribution = Jitter::Distribution;

struct DistributionName {
  const char* name;
  Distribution distribution;
  const char* scale;  // the key of its scale
  bool has_shape;
};
constexpr std::array<DistributionName, 5> kDistributions = {{
    {"constant", Distribution::kConstant, nullptr, false},
    {"uniform", Distribution::kUniform, "spread", false},
    {"normal", Distribution::kNormal, "deviation", false},
    {"lognormal", Distribution::kLognormal, "median", true},
    {"pareto", Distribution::kPareto, "scale", true},
}};

void ReadJitter(const YamlNode& node, Jitter& jitter, Reading& reading) {
  Fields fields(node, "jitter", reading);
  std::string name;
  fields.Read("distribution", name);
  for (const DistributionName& known : kDistributions) {
    if (name != known.name) continue;
    jitter.distribution = known.distribution;
    if (known.scale != nullptr) fields.Read(known.scale, jitter.scale);
    if (known.has_shape) {
      fields.ReadNumber(known.distribution == Distribution::kPareto ? "shape" : "sigma", 0.01, 100,
                        jitter.shape);
    }
    fields.Read("most", jitter.most);
    return;
  }
  reading.Fail(node, "'distribution' is constant, uniform, normal, lognormal or pareto");
}

void ReadPackets(const YamlNode& node, Choice& choice, Reading& reading) {
  ForEachItem(node, [&](const YamlNode& item) {
    std::vector<std::string> ends = absl::StrSplit(item.text, '-');
    uint64_t first, last;
    bool good = item.kind == YamlNode::Kind::kScalar && ends.size() <= 2 &&
                absl::SimpleAtoi(ends.front(), &first) && absl::SimpleAtoi(ends.back(), &last) &&
                first >= 1 && first <= last;
    if (!good) return reading.Fail(item, "a packet is an ordinal from 1 on, or a range: 5-9");
    choice.packets.emplace_back(first, last);
  });
}

uint8_t ReadProtocol(const YamlNode& node, Reading& reading) {
  if (node.text == "icmp") return kIcmp;
  if (node.text == "udp") return kUdp;
  if (node.text == "tcp") return kTcp;
  reading.Fail(node, "'protocol' is icmp, udp or tcp");
  return 0;
}

// A bare ratio, or a map with exactly one of ratio, gilbert, packets, every.
Choice ReadChoice(const YamlNode& node, absl::Duration* late_by, Reading& reading) {
  Choice choice;
  if (node.kind == YamlNode::Kind::kScalar && late_by == nullptr) {
    YamlNode map;
    map.kind = YamlNode::Kind::kMap;
    map.position = node.position;
    map.entries.push_back({"ratio", node.position, std::make_shared<YamlNode>(node)});
    Fields(map, "a choice", reading).ReadRatio("ratio", choice.ratio);
    return choice;
  }
  Fields fields(node, "a choice of packets", reading);
  int kinds = 0;
  if (fields.Take("ratio") != nullptr) {
    ++kinds;
    fields.ReadRatio("ratio", choice.ratio);
  }
  if (const YamlNode* gilbert = fields.Take("gilbert")) {
    ++kinds;
    choice.kind = Choice::Kind::kGilbert;
    Fields states(*gilbert, "gilbert", reading);
    states.ReadRatio("enter", choice.enter);
    states.ReadRatio("leave", choice.leave);
    states.ReadRatio("good", choice.good);
    states.ReadRatio("bad", choice.bad);
  }
  if (const YamlNode* packets = fields.Take("packets")) {
    ++kinds;
    choice.kind = Choice::Kind::kPackets;
    ReadPackets(*packets, choice, reading);
  }
  if (fields.Take("every") != nullptr) {
    ++kinds;
    choice.kind = Choice::Kind::kEvery;
    fields.ReadInteger("every", 1, 1'000'000'000, choice.every);
  }
  if (kinds != 1) reading.Fail(node, "write one of ratio, gilbert, packets, every");
  if (const YamlNode* protocol = fields.Take("protocol")) {
    choice.protocol = ReadProtocol(*protocol, reading);
  }
  if (late_by != nullptr) fields.Read("by", *late_by);
  return choice;
}

void ReadChoices(const YamlNode* node, std::vector<Choice>& choices, Reading& reading) {
  if (node == nullptr) return;
  choices.clear();
  ForEachItem(*node,
              [&](const YamlNode& item) { choices.push_back(ReadChoice(item, nullptr, reading)); });
}

void ReadQuote(Fields& fields, const YamlNode& node, Quote& quote, Reading& reading) {
  int written = 0;
  if (fields.Take("quote") != nullptr) {
    ++written;
    std::string kind;
    fields.Read("quote", kind);
    if (kind == "full") {
      quote.kind = Quote::Kind::kFull;
    } else if (kind == "wrong_ports") {
      quote.kind = Quote::Kind::kWrongPorts;
    } else if (kind == "wrong_destination") {
      quote.kind = Quote::Kind::kWrongDestination;
    } else if (kind == "garbage") {
      quote.kind = Quote::Kind::kGarbage;
    } else {
      reading.Fail(node, "'quote' is full, wrong_ports, wrong_destination or garbage");
    }
  }
  if (fields.Take("quote_bytes") != nullptr) {
    ++written;
    quote.kind = Quote::Kind::kBytes;
    fields.ReadInteger("quote_bytes", 0, 65535, quote.bytes);
  }
  if (fields.Take("quote_transport_bytes") != nullptr) {
    ++written;
    quote.kind = Quote::Kind::kTransport;
    fields.ReadInteger("quote_transport_bytes", 0, 65535, quote.bytes);
  }
  if (written > 1) {
    reading.Fail(node, "write one of quote, quote_bytes and quote_transport_bytes");
  }
  fields.Read("legacy_extension", quote.legacy_extension);
  const YamlNode* labels = fields.Take("mpls");
  if (labels == nullptr) return;
  ForEachItem(*labels, [&](const YamlNode& item) {
    MplsLabel label;
    Fields entry(item, "an MPLS label", reading);
    entry.ReadInteger("label", 0, (1 << 20) - 1, label.label);
    entry.ReadInteger("traffic_class", 0, 7, label.traffic_class);
    entry.ReadInteger("ttl", 0, 255, label.ttl);
    quote.labels.push_back(label);
  });
  if (quote.labels.size() > 16) reading.Fail(*labels, "at most 16 labels");
}

}  // namespace

void ReadLink(const YamlNode& node, LinkSettings& link, Reading& reading) {
  Fields fields(node, "a link", reading);
  fields.Read("delay", link.delay);
  if (const YamlNode* jitter = fields.Take("jitter")) ReadJitter(*jitter, link.jitter, reading);
  fields.Read("reorder", link.reorder);
  ReadChoices(fields.Take("loss"), link.loss, reading);
  ReadChoices(fields.Take("duplicate"), link.duplicate, reading);
  if (const YamlNode* late = fields.Take("late")) {
    link.late = {ReadChoice(*late, &link.late_by, reading)};
  }
  fields.ReadBitsPerSecond("rate", link.rate_bps);
  fields.ReadBytes("queue", link.queue_bytes);
  fields.ReadInteger("mtu", 68, 65535, link.mtu);
  std::string too_big = "answer";
  fields.Read("too_big", too_big);
  link.answers_too_big = too_big == "answer";
  if (too_big != "answer" && too_big != "silent") {
    reading.Fail(node, "'too_big' is answer or silent");
  }
}

void ReadAnswers(const YamlNode& node, AnswerSettings& answers, Reading& reading) {
  Fields fields(node, "icmp", reading);
  fields.Read("silent", answers.silent);
  fields.Read("echo", answers.echo);
  fields.ReadNumber("rate", 0.001, 1e9, answers.rate_per_s);
  fields.ReadNumber("burst", 1, 1e9, answers.burst);
  fields.Read("delay", answers.delay);
  if (const YamlNode* jitter = fields.Take("jitter")) ReadJitter(*jitter, answers.jitter, reading);
  fields.ReadInteger("ttl", 1, 255, answers.ttl);
  ReadQuote(fields, node, answers.quote, reading);
}

}  // namespace assay::pathsim

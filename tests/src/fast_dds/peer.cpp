// A node of ROS 2 on Fast DDS, in the way of rmw_fastrtps, for tests.
//
// Its arguments are a domain, then `--localhost-only`, `--initial-peer ADDRESS`, and topics as
// NAME=TYPE=FORMAT; `--kept` before a topic asks for what was published before. Each message that
// arrives is a line of JSON: the topic, the values, and the number of its writer, counted in the
// order of arrival. A FORMAT has letters of values, each with how many there are of it: u8 (b), i32
// (i), u32 (u), u64 (l), double (d), string (s), bytes in hexadecimal (x): i1u1s2d7. What stands
// behind an n is there as often as its sequence is long.
// Lines of its standard input are commands:
//
//     wait COUNT SECONDS                        answers once so many writers of each topic are known
//     publish TOPIC TYPE READERS VALUE...       publishes once there are so many readers
//     call SERVICE TYPE FORMAT VALUE...         answers with the values of the response, or null
//     echo TOPIC TYPE TOPIC                     publishes what comes on one topic on another
//     round_trip TOPIC TYPE READERS TOPIC TYPE FORMAT PLACE COUNT
//                                               publishes twists, by turns forwards and backwards,
//                                               each once a message on the other topic has a value
//                                               at that place that goes the same way; answers with
//                                               the time that each took [us], or with the reason
//                                               why there is none. It reads as nodes do that want
//                                               to know how things are now: of what waits it gets
//                                               the last 10. The first twist is repeated until it
//                                               is heard
//
// A VALUE is a letter with a value: d2.5, swords, l100. It ends with its input.

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fastcdr/Cdr.h>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;
using Clock = std::chrono::steady_clock;

constexpr auto PATIENCE = std::chrono::seconds(240);
constexpr auto REPEAT = std::chrono::milliseconds(200);
constexpr uint32_t LARGEST = 1 << 20;
/// Number of messages that a node of ROS 2 keeps, unless it says otherwise.
constexpr int32_t USUAL_DEPTH = 10;

/// A message as bytes, with the header that names their encoding.
using Bytes = std::vector<unsigned char>;

/// Type of messages that are bytes.
class Raw : public fast::TopicDataType {
public:
    explicit Raw(const std::string& name) {
        setName(name.c_str());
        m_typeSize = LARGEST;
        m_isGetKeyDefined = false;
    }

    bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
        const auto& bytes = *static_cast<Bytes*>(data);
        if (payload->max_size < bytes.size()) return false;
        std::copy(bytes.begin(), bytes.end(), payload->data);
        payload->length = static_cast<uint32_t>(bytes.size());
        payload->encapsulation = CDR_LE;
        return true;
    }

    bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }

    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }

    void* createData() override { return new Bytes(); }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

std::string in_quotes(const std::string& text) {
    std::ostringstream out;
    out << '"';
    for (unsigned char one : text) {
        if (one == '"' || one == '\\') out << '\\' << one;
        else if (one < ' ') out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << int(one);
        else out << one;
    }
    out << '"';
    return out.str();
}

template <typename T>
std::string number(Cdr& cdr) {
    T value;
    cdr >> value;
    std::ostringstream out;
    out << std::setprecision(17) << +value;
    return out.str();
}

std::string next(Cdr& cdr, char kind) {
    switch (kind) {
        case 'b': return number<uint8_t>(cdr);
        case 'i': return number<int32_t>(cdr);
        case 'u': return number<uint32_t>(cdr);
        case 'l': return number<uint64_t>(cdr);
        case 'd': return number<double>(cdr);
        case 's': {
            std::string text;
            cdr >> text;
            return in_quotes(text);
        }
        case 'x': {
            std::vector<uint8_t> bytes;
            cdr >> bytes;
            std::string digits;
            for (uint8_t one : bytes) {
                digits += "0123456789abcdef"[one >> 4];
                digits += "0123456789abcdef"[one & 15];
            }
            return in_quotes(digits);
        }
        default: throw std::runtime_error(std::string("no format has ") + kind);
    }
}

/// Returns the values of a message as an array of JSON.
std::string decoded(Bytes bytes, const std::string& format) {
    FastBuffer buffer(reinterpret_cast<char*>(bytes.data()), bytes.size());
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    const auto sequence = format.find('n');
    std::string values;
    const auto read = [&](const std::string& part) {
        std::istringstream kinds(part);
        for (char kind; kinds >> kind;) {
            int count;
            kinds >> count;
            while (count-- > 0) values += (values.empty() ? "" : ",") + next(cdr, kind);
        }
    };
    read(format.substr(0, sequence));
    if (sequence != std::string::npos) {
        uint32_t length;
        cdr >> length;
        while (length-- > 0) read(format.substr(sequence + 1));
    }
    return "[" + values + "]";
}

/// Returns a number of a message.
double value_at(const Bytes& bytes, const std::string& format, int place) {
    std::istringstream values(decoded(bytes, format).substr(1));
    std::string value;
    for (int index = 0; index <= place; ++index) std::getline(values, value, ',');
    return std::stod(value);
}

/// Returns the message of some values; one without values has one byte, as in rosidl.
Bytes encoded(std::istringstream& words) {
    Bytes bytes(LARGEST);
    FastBuffer buffer(reinterpret_cast<char*>(bytes.data()), bytes.size());
    Cdr cdr(buffer, Cdr::LITTLE_ENDIANNESS, Cdr::DDS_CDR);
    cdr.serialize_encapsulation();
    bool is_empty = true;
    for (std::string word; words >> word; is_empty = false) {
        const std::string value = word.substr(1);
        switch (word[0]) {
            case 'b': cdr << static_cast<uint8_t>(std::stoul(value)); break;
            case 'i': cdr << static_cast<int32_t>(std::stol(value)); break;
            case 'u': cdr << static_cast<uint32_t>(std::stoul(value)); break;
            case 'l': cdr << static_cast<uint64_t>(std::stoull(value)); break;
            case 'd': cdr << std::stod(value); break;
            case 's': cdr << value; break;
            default: throw std::runtime_error("no value is " + word);
        }
    }
    if (is_empty) cdr << static_cast<uint8_t>(0);
    bytes.resize(cdr.getSerializedDataLength());
    return bytes;
}

/// Returns the name of a type in DDS: nav_msgs/msg/Odometry is nav_msgs::msg::dds_::Odometry_.
std::string type_in_dds(const std::string& name, const std::string& role = "") {
    const auto first = name.find('/'), last = name.rfind('/');
    return name.substr(0, first) + "::" + name.substr(first + 1, last - first - 1) + "::dds_::"
        + name.substr(last + 1) + role + "_";
}

class Node {
public:
    Node(uint32_t domain, bool is_local, const std::vector<std::string>& peers) {
        fast::DomainParticipantQos qos;
        if (is_local) {
            auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
            udp->interfaceWhiteList.emplace_back("127.0.0.1");
            qos.transport().user_transports.push_back(udp);
            qos.transport().use_builtin_transports = false;
        }
        for (const auto& peer : peers) {
            rtps::Locator_t locator;
            locator.kind = LOCATOR_KIND_UDPv4;
            rtps::IPLocator::setIPv4(locator, peer);
            qos.wire_protocol().builtin.initialPeersList.push_back(locator);
        }
        participant_ = fast::DomainParticipantFactory::get_instance()->create_participant(domain, qos);
        if (participant_ == nullptr) throw std::runtime_error("no participant");
        publisher_ = participant_->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
        subscriber_ = participant_->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    }

    /// Makes a reader that keeps the last messages up to a number, or with 0 all of them.
    fast::DataReader* reader(const std::string& name, const std::string& type, bool is_kept = false,
                             int32_t depth = 0) {
        fast::DataReaderQos qos;
        if (is_kept) qos.durability().kind = fast::TRANSIENT_LOCAL_DURABILITY_QOS;
        qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
        qos.history().kind = depth > 0 ? fast::KEEP_LAST_HISTORY_QOS : fast::KEEP_ALL_HISTORY_QOS;
        if (depth > 0) qos.history().depth = depth;
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.data_sharing().off();
        return subscriber_->create_datareader(topic(name, type), qos);
    }

    fast::DataWriter* writer(const std::string& name, const std::string& type) {
        fast::DataWriterQos qos;
        qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
        qos.history().kind = fast::KEEP_LAST_HISTORY_QOS;
        qos.history().depth = 10;
        qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
        qos.data_sharing().off();
        return publisher_->create_datawriter(topic(name, type), qos);
    }

private:
    fast::Topic* topic(const std::string& name, const std::string& type) {
        auto& found = topics_[name];
        if (found == nullptr) {
            fast::TypeSupport support(new Raw(type));
            support.register_type(participant_);
            found = participant_->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
            if (found == nullptr) throw std::runtime_error("no topic " + name);
        }
        return found;
    }

    fast::DomainParticipant* participant_;
    fast::Publisher* publisher_;
    fast::Subscriber* subscriber_;
    std::map<std::string, fast::Topic*> topics_;
};

/// Waits until something holds; tells whether it did in time.
bool wait_until(const std::function<bool()>& holds, std::chrono::seconds patience = PATIENCE) {
    const auto end = Clock::now() + patience;
    while (!holds()) {
        if (Clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

int matched(fast::DataReader* reader) {
    fast::SubscriptionMatchedStatus status;
    reader->get_subscription_matched_status(status);
    return status.current_count;
}

int matched(fast::DataWriter* writer) {
    fast::PublicationMatchedStatus status;
    writer->get_publication_matched_status(status);
    return status.current_count;
}

void say(const std::string& line) {
    static std::mutex output;
    std::lock_guard<std::mutex> guard(output);
    std::cout << line << std::endl;
}

/// A topic that is listened to.
struct Heard {
    std::string name, format;
    fast::DataReader* reader;
    std::map<rtps::InstanceHandle_t, size_t> writers;

    void receive() {
        Bytes bytes;
        fast::SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
            if (!info.valid_data) continue;
            const size_t writer = writers.emplace(info.publication_handle, writers.size()).first->second;
            say("{\"topic\":" + in_quotes(name) + ",\"values\":" + decoded(bytes, format)
                + ",\"writer\":" + std::to_string(writer) + "}");
        }
    }
};

/// Publishes what comes on one topic on another, at once.
class Echo : public fast::DataReaderListener {
public:
    Echo(Node& node, const std::string& from, const std::string& type, const std::string& to)
        : writer_(node.writer("rt" + to, type_in_dds(type))),
          reader_(node.reader("rt" + from, type_in_dds(type))) {
        reader_->set_listener(this);
    }

    void on_data_available(fast::DataReader* reader) override {
        Bytes bytes;
        fast::SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
            if (info.valid_data) writer_->write(&bytes);
        }
    }

private:
    fast::DataWriter* writer_;
    fast::DataReader* reader_;
};

/// Measures the time from a twist to a message that shows it [us].
std::string round_trip(Node& node, std::istringstream& words) {
    std::string to, to_type, from, from_type, format;
    int readers, place, count;
    words >> to >> to_type >> readers >> from >> from_type >> format >> place >> count;
    auto* writer = node.writer("rt" + to, type_in_dds(to_type));
    auto* reader = node.reader("rt" + from, type_in_dds(from_type), false, USUAL_DEPTH);
    if (!wait_until([&] { return matched(writer) >= readers && matched(reader) >= readers; })) {
        return "\"the other side was not found\"";
    }
    std::string times;
    for (int turn = 0; turn < count; ++turn) {
        const double way = turn % 2 == 0 ? 1.0 : -1.0;
        std::istringstream twist(way > 0 ? "d0.5 d0 d0 d0 d0 d0" : "d-0.5 d0 d0 d0 d0 d0");
        Bytes message = encoded(twist);
        const auto start = Clock::now();
        auto said_at = start;
        writer->write(&message);
        bool is_there = false;
        while (!is_there) {
            if (Clock::now() - start > PATIENCE) {
                return "\"nothing showed the twist of turn " + std::to_string(turn) + "\"";
            }
            // A subscription that has only begun to know the publisher takes no message from it.
            if (turn == 0 && Clock::now() - said_at > REPEAT) {
                said_at = Clock::now();
                writer->write(&message);
            }
            if (!reader->wait_for_unread_message({0, 100000000})) continue;
            Bytes bytes;
            fast::SampleInfo info;
            while (reader->take_next_sample(&bytes, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
                is_there |= info.valid_data && value_at(bytes, format, place) * way > 0.1;
            }
        }
        const std::chrono::duration<double, std::micro> time = Clock::now() - start;
        times += (times.empty() ? "" : ",") + std::to_string(time.count());
    }
    return "[" + times + "]";
}

/// A service as a client has it, in the way of rmw_fastrtps: the request names the reader of
/// replies beside the message, and the reply names the request.
class Client {
public:
    Client(Node& node, const std::string& service, const std::string& type)
        : writer_(node.writer("rq" + service + "Request", type_in_dds(type, "_Request"))),
          reader_(node.reader("rr" + service + "Reply", type_in_dds(type, "_Response"))) {}

    std::string call(Bytes request, const std::string& format) {
        if (!wait_until([this] { return matched(writer_) > 0 && matched(reader_) > 0; })) return "null";
        rtps::WriteParams params;
        params.related_sample_identity().writer_guid() = reader_->guid();
        writer_->write(&request, params);
        const auto number = params.sample_identity().sequence_number();
        std::string response = "null";
        wait_until([&] {
            Bytes bytes;
            fast::SampleInfo info;
            while (reader_->take_next_sample(&bytes, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
                const auto& related = info.related_sample_identity;
                const bool is_ours = related.writer_guid() == reader_->guid()
                    || related.writer_guid() == writer_->guid();
                if (info.valid_data && is_ours && related.sequence_number() == number) {
                    response = decoded(bytes, format);
                }
            }
            return response != "null";
        });
        return response;
    }

private:
    fast::DataWriter* writer_;
    fast::DataReader* reader_;
};

void run(int count, char** words) {
    std::vector<std::string> peers, topics;
    bool is_local = false;
    std::set<std::string> kept;
    for (int index = 2; index < count; ++index) {
        const std::string word = words[index];
        if (word == "--localhost-only") is_local = true;
        else if (word == "--initial-peer") peers.emplace_back(words[++index]);
        else if (word == "--kept") {
            topics.emplace_back(words[++index]);
            kept.insert(topics.back());
        } else topics.push_back(word);
    }
    Node node(static_cast<uint32_t>(std::stoul(words[1])), is_local, peers);
    std::vector<std::unique_ptr<Heard>> heard;
    for (const auto& topic : topics) {
        const auto first = topic.find('='), last = topic.rfind('=');
        auto one = std::make_unique<Heard>();
        one->name = topic.substr(0, first);
        one->format = topic.substr(last + 1);
        const std::string type = topic.substr(first + 1, last - first - 1);
        one->reader = node.reader("rt" + one->name, type_in_dds(type), kept.count(topic) > 0);
        heard.push_back(std::move(one));
    }
    std::atomic<bool> ends{false};
    std::thread listener([&] {
        while (!ends) {
            for (auto& one : heard) one->receive();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    });
    std::map<std::string, fast::DataWriter*> writers;
    std::map<std::string, std::unique_ptr<Client>> clients;
    std::vector<std::unique_ptr<Echo>> echoes;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream rest(line);
        std::string verb, name, type;
        rest >> verb;
        if (verb == "wait") {
            int wanted, seconds;
            rest >> wanted >> seconds;
            const bool is_so = wait_until([&] {
                for (auto& one : heard) if (matched(one->reader) < wanted) return false;
                return true;
            }, std::chrono::seconds(seconds));
            say("{\"known\":" + std::to_string(is_so ? wanted : 0) + "}");
        } else if (verb == "publish") {
            int readers;
            rest >> name >> type >> readers;
            auto& writer = writers[name];
            if (writer == nullptr) writer = node.writer("rt" + name, type_in_dds(type));
            const bool is_heard = wait_until([&] { return matched(writer) >= readers; });
            Bytes message = encoded(rest);
            writer->write(&message);
            say(std::string("{\"published\":") + (is_heard ? "true" : "false") + "}");
        } else if (verb == "echo") {
            std::string to;
            rest >> name >> type >> to;
            echoes.push_back(std::make_unique<Echo>(node, name, type, to));
        } else if (verb == "round_trip") {
            say("{\"round_trip_us\":" + round_trip(node, rest) + "}");
        } else if (verb == "call") {
            std::string format;
            rest >> name >> type >> format;
            auto& client = clients[name];
            if (client == nullptr) client = std::make_unique<Client>(node, name, type);
            say("{\"response\":" + client->call(encoded(rest), format) + "}");
        }
    }
    ends = true;
    listener.join();
}

int main(int count, char** words) {
    try {
        run(count, words);
    } catch (const std::exception& error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
    // Destructors of the middleware wait for peers.
    std::quick_exit(0);
}

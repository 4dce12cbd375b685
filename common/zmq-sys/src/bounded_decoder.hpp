//  bounded_decoder_t: libzmq's decoder of ZMTP 2 and 3, with bounds on what a connection may fill.
//
//  libzmq reads the commands of a handshake with the decoder that reads messages, up to the largest
//  message of the socket. Here a connection is given a few kilobytes until the command has come
//  that ends its handshake (READY without encryption, INITIATE at a CURVE server, READY at its
//  client): a command that comes where the mechanism does not expect it ends the connection.
//  After it the frames of one message are bounded together, which libzmq holds until the last of
//  them, and so are the topics of a connection, of which libzmq keeps each byte as a node of a
//  tree. Encryption hides what a frame is, so that the decoder is told of each one as it was
//  decrypted.
//
//  It also sees to it that no two living connections of a socket have one routing id. libzmq's
//  ROUTER sets the second of them aside: it never reads it again, and keeps its queues for good
//  even when it is closed. And ids that begin with 0 are libzmq's own: it aborts when somebody has
//  the next one. Peers of ZMTP 1, which have no such bounds, are not spoken with.

#ifndef PHALANX_BOUNDED_DECODER_HPP_INCLUDED
#define PHALANX_BOUNDED_DECODER_HPP_INCLUDED

#include <errno.h>
#include <string.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "i_decoder.hpp"
#include "metadata.hpp"
#include "msg.hpp"
#include "options.hpp"
#include "session_base.hpp"
#include "v1_decoder.hpp"
#include "v2_decoder.hpp"

namespace zmq
{
//  The most that is held for a connection before its handshake is done [bytes].
const size_t handshake_bytes_max = 8192;

//  How much longer a message may be than its largest frame: routing id, topic and headers [bytes].
const size_t message_overhead_max = 65536;

//  The largest message of a key that may only look [bytes], as in common/transport's gate.rs.
const size_t observer_bytes_max = 65536;

//  The most that one connection may listen to at a time, as in common/transport's subscribers.rs,
//  which tells why it is cut off.
const size_t topics_max = 512;
const size_t topic_bytes_max = 65536;

//  What a connection has of that while its sender makes good for having exceeded it [bytes], and
//  for how long. libzmq keeps each byte of a topic as a node of a tree, and walks through all of
//  them when a connection goes: whoever comes back at once would have it do little else.
const size_t topic_bytes_reserved = 4096;
const std::chrono::seconds penalty_time (5);

//  The most senders that make good at a time.
const size_t penalties_max = 4096;

//  The routing ids of living connections, by the socket that these are of.
class living_ids_t
{
  public:
    //  Takes an id for a connection; false if another one has it.
    static bool take (const void *socket_, const std::string &id_)
    {
        living_ids_t &all = instance ();
        const std::lock_guard<std::mutex> lock (all._sync);
        return all._ids.insert (std::make_pair (socket_, id_)).second;
    }

    static void give_back (const void *socket_, const std::string &id_)
    {
        living_ids_t &all = instance ();
        const std::lock_guard<std::mutex> lock (all._sync);
        all._ids.erase (std::make_pair (socket_, id_));
    }

  private:
    //  Never destroyed: libzmq's threads may outlive what is static.
    static living_ids_t &instance ()
    {
        static living_ids_t *const all = new living_ids_t;
        return *all;
    }

    std::mutex _sync;
    std::set<std::pair<const void *, std::string> > _ids;
};

//  Those whose connections have listened to too much of a socket just now.
class penalties_t
{
  public:
    typedef std::pair<const void *, std::string> sender_t;

    static bool has (const sender_t &sender_)
    {
        penalties_t &all = instance ();
        const std::lock_guard<std::mutex> lock (all._sync);
        const std::map<sender_t, time_t>::iterator it = all._ends.find (sender_);
        if (it == all._ends.end ())
            return false;
        if (std::chrono::steady_clock::now () < it->second)
            return true;
        all._ends.erase (it);
        return false;
    }

    static void add (const sender_t &sender_)
    {
        penalties_t &all = instance ();
        const std::lock_guard<std::mutex> lock (all._sync);
        if (all._ends.size () >= penalties_max)
            all._ends.clear ();
        all._ends[sender_] = std::chrono::steady_clock::now () + penalty_time;
    }

  private:
    typedef std::chrono::steady_clock::time_point time_t;

    static penalties_t &instance ()
    {
        static penalties_t *const all = new penalties_t;
        return *all;
    }

    std::mutex _sync;
    std::map<sender_t, time_t> _ends;
};

class bounded_decoder_t ZMQ_FINAL : public i_decoder
{
  public:
    bounded_decoder_t (size_t bufsize_, int64_t maxmsgsize_, bool zero_copy_) :
        _inner (bufsize_, maxmsgsize_, zero_copy_),
        _max (maxmsgsize_),
        _frame (0),
        _held (0),
        _is_open (false),
        _topic_bytes (0),
        _has_exceeded (false),
        _socket (NULL)
    {
    }

    ~bounded_decoder_t () ZMQ_OVERRIDE
    {
        if (_socket)
            living_ids_t::give_back (_socket, _id);
    }

    void get_buffer (unsigned char **data_, size_t *size_) ZMQ_OVERRIDE
    {
        _inner.get_buffer (data_, size_);
        if (!_is_open && *size_ > handshake_bytes_max)
            *size_ = handshake_bytes_max;
    }

    void resize_buffer (size_t size_) ZMQ_OVERRIDE
    {
        _inner.resize_buffer (size_);
    }

    int decode (const unsigned char *data_,
                size_t size_,
                size_t &processed_) ZMQ_OVERRIDE
    {
        if (_has_exceeded) {
            processed_ = 0;
            errno = EMSGSIZE;
            return -1;
        }
        const int rc = _inner.decode (data_, size_, processed_);
        if (rc == -1)
            return rc;
        _frame += processed_;
        const bool is_too_much =
          _is_open
            ? _max >= 0
                && _held + _frame
                     > static_cast<uint64_t> (_max) + message_overhead_max
            : _held + _frame > handshake_bytes_max;
        if (is_too_much) {
            errno = EMSGSIZE;
            return -1;
        }
        if (rc == 1 && !_is_open) {
            _is_open = ends_handshake (*_inner.msg ());
            _held = _is_open ? 0 : _held + _frame;
            _frame = 0;
        }
        return rc;
    }

    msg_t *msg () ZMQ_OVERRIDE { return _inner.msg (); }

    //  Takes note of a frame that is about to be kept for its socket, as it was decrypted.
    void note (msg_t &frame_, const void *socket_, const options_t &options_)
    {
        if (frame_.is_routing_id ())
            note_id (frame_, socket_);
        if (frame_.is_credential ())
            note_role (frame_);
        else if (frame_.flags () & msg_t::more)
            //  However short it is, it takes a place in the queue.
            _held += _frame + sizeof (msg_t);
        else if (!(frame_.flags () & msg_t::command))
            _held = 0;
        //  A command is not kept; the message under way goes on after it.
        _frame = 0;
        if (options_.type == ZMQ_XPUB && !frame_.is_credential ())
            note_topic (frame_, socket_);
    }

  private:
    //  Takes the id of the connection, or has libzmq give it one in the place of an id that is not
    //  to be had. Who asked for that of another who is still there is cut off when it speaks, and
    //  gets it when it comes back after the other is gone.
    void note_id (msg_t &frame_, const void *socket_)
    {
        if (frame_.size () == 0)
            return;
        const std::string id (static_cast<const char *> (frame_.data ()),
                              frame_.size ());
        const bool is_own = id[0] == 0;
        if (!is_own && !_socket && living_ids_t::take (socket_, id)) {
            _socket = socket_;
            _id = id;
            return;
        }
        _has_exceeded = !is_own;
        int rc = frame_.close ();
        zmq_assert (rc == 0);
        rc = frame_.init ();
        zmq_assert (rc == 0);
        frame_.set_flags (msg_t::routing_id);
    }

    //  The door names who enters by his role: "observer 17".
    void note_role (msg_t &frame_)
    {
        _credential.assign (static_cast<const char *> (frame_.data ()),
                            frame_.size ());
        if (begins_with (frame_, "observer ")
            && (_max < 0 || _max > static_cast<int64_t> (observer_bytes_max)))
            _max = observer_bytes_max;
    }

    //  Takes note of a subscription or of its end; nothing else is said to a socket that publishes.
    void note_topic (msg_t &frame_, const void *socket_)
    {
        const char *data = static_cast<const char *> (frame_.data ());
        size_t size = frame_.size ();
        bool begins = frame_.is_subscribe ();
        if (begins || frame_.is_cancel ()) {
            data = static_cast<const char *> (frame_.command_body ());
            size = frame_.command_body_size ();
        } else if (frame_.flags () & msg_t::command) {
            return;
        } else if (size > 0 && (*data == 0 || *data == 1)) {
            begins = *data == 1;
            data++;
            size--;
        } else {
            return;
        }
        const std::string topic (data, size);
        if (!begins) {
            _topic_bytes -= _topics.erase (topic) * size;
            return;
        }
        const size_t bytes = _topic_bytes + size;
        if (_topics.size () >= topics_max || bytes > topic_bytes_max) {
            _has_exceeded = true;
            penalties_t::add (sender_of (frame_, socket_));
        } else if (bytes > topic_bytes_reserved
                   && penalties_t::has (sender_of (frame_, socket_)))
            _has_exceeded = true;
        else
            _topic_bytes += _topics.insert (topic).second ? size : 0;
    }

    //  Returns who sends a frame: its key, if there are any, and its host, or its process here.
    penalties_t::sender_t sender_of (msg_t &frame_, const void *socket_) const
    {
        metadata_t *const known = frame_.metadata ();
        const char *const address =
          known ? known->get (ZMQ_MSG_PROPERTY_PEER_ADDRESS) : NULL;
        return penalties_t::sender_t (socket_, _credential + " "
                                                 + (address ? address : ""));
    }

    static bool ends_handshake (msg_t &frame_)
    {
        return begins_with (frame_, "\5READY")
               || begins_with (frame_, "\10INITIATE");
    }

    static bool begins_with (msg_t &frame_, const char *name_)
    {
        const size_t length = strlen (name_);
        return frame_.size () >= length
               && memcmp (frame_.data (), name_, length) == 0;
    }

    v2_decoder_t _inner;
    int64_t _max;
    //  Of the frame under way, and of those before it of its message or handshake [bytes].
    uint64_t _frame;
    uint64_t _held;
    bool _is_open;
    //  Topics that the connection listens to, and their lengths together [bytes].
    std::set<std::string> _topics;
    size_t _topic_bytes;
    //  Whether it has asked for more than it may: nothing more is read of it.
    bool _has_exceeded;
    //  Its id, and the socket at which it has it; none until it has one.
    const void *_socket;
    std::string _id;
    //  By what the door knows it; empty without keys.
    std::string _credential;

    ZMQ_NON_COPYABLE_NOR_MOVABLE (bounded_decoder_t)
};

//  The decoder of peers that speak ZMTP 1: whatever they say ends their connection.
class refusing_decoder_t ZMQ_FINAL : public i_decoder
{
  public:
    refusing_decoder_t () { _msg.init (); }

    void get_buffer (unsigned char **data_, size_t *size_) ZMQ_OVERRIDE
    {
        *data_ = _buffer;
        *size_ = sizeof _buffer;
    }

    void resize_buffer (size_t) ZMQ_OVERRIDE {}

    int decode (const unsigned char *, size_t, size_t &processed_) ZMQ_OVERRIDE
    {
        processed_ = 0;
        errno = EPROTO;
        return -1;
    }

    msg_t *msg () ZMQ_OVERRIDE { return &_msg; }

  private:
    unsigned char _buffer[64];
    msg_t _msg;

    ZMQ_NON_COPYABLE_NOR_MOVABLE (refusing_decoder_t)
};

//  Tells a decoder of a frame before its session gets it, and returns the frame.
inline msg_t *noted (msg_t *frame_,
                     i_decoder *decoder_,
                     const void *socket_,
                     const options_t &options_)
{
    //  Raw streams and web sockets have other decoders.
    bounded_decoder_t *const decoder =
      dynamic_cast<bounded_decoder_t *> (decoder_);
    if (decoder)
        decoder->note (*frame_, socket_, options_);
    return frame_;
}
}

//  Where libzmq makes its decoders, it makes these.
#define v2_decoder_t(bufsize, maxmsgsize, zero_copy)                           \
    bounded_decoder_t (bufsize, maxmsgsize, zero_copy)
#define v1_decoder_t(bufsize, maxmsgsize) refusing_decoder_t ()

//  Where an engine hands a frame to its session, the decoder is told of it.
#define push_msg(frame)                                                        \
    push_msg (zmq::noted (frame, _decoder, socket (), _options))

#endif

//  bounded_decoder_t: libzmq's decoder of ZMTP 2 and 3, with a bound on what strangers may fill.
//
//  libzmq reads the commands of a handshake with the decoder that reads messages, up to the largest
//  message of the socket. Here a connection is given a few kilobytes until the command has come
//  that ends its handshake (READY without encryption, INITIATE at a CURVE server, READY at its
//  client): a command that comes where the mechanism does not expect it ends the connection.
//  Where nothing is encrypted, the frames of one message are bounded together as well; CURVE hides
//  which frames belong together.

#ifndef PHALANX_BOUNDED_DECODER_HPP_INCLUDED
#define PHALANX_BOUNDED_DECODER_HPP_INCLUDED

#include <errno.h>
#include <string.h>

#include "i_decoder.hpp"
#include "msg.hpp"
#include "v2_decoder.hpp"

namespace zmq
{
//  The most that is held for a connection before its handshake is done [bytes].
const size_t handshake_bytes_max = 8192;

//  How much longer a message may be than its largest frame: routing id, topic and headers [bytes].
const size_t message_overhead_max = 65536;

class bounded_decoder_t ZMQ_FINAL : public i_decoder
{
  public:
    bounded_decoder_t (size_t bufsize_, int64_t maxmsgsize_, bool zero_copy_) :
        _inner (bufsize_, maxmsgsize_, zero_copy_),
        _max (maxmsgsize_),
        _held (0),
        _is_open (false)
    {
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
        const int rc = _inner.decode (data_, size_, processed_);
        if (rc == -1)
            return rc;
        _held += processed_;
        const bool is_too_much =
          _is_open ? _max >= 0
                       && _held > static_cast<uint64_t> (_max) + message_overhead_max
                   : _held > handshake_bytes_max;
        if (is_too_much) {
            errno = EMSGSIZE;
            return -1;
        }
        if (rc == 1) {
            msg_t *const frame = _inner.msg ();
            if (!_is_open)
                _is_open = ends_handshake (*frame);
            if (_is_open && !(frame->flags () & msg_t::more))
                _held = 0;
        }
        return rc;
    }

    msg_t *msg () ZMQ_OVERRIDE { return _inner.msg (); }

  private:
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
    const int64_t _max;
    //  Of the handshake, or of the message under way [bytes].
    uint64_t _held;
    bool _is_open;

    ZMQ_NON_COPYABLE_NOR_MOVABLE (bounded_decoder_t)
};
}

//  Where libzmq makes its decoder, it makes this one.
#define v2_decoder_t(bufsize, maxmsgsize, zero_copy)                           \
    bounded_decoder_t (bufsize, maxmsgsize, zero_copy)

#endif

"""Drives a vehicle to a place in lockstep: python3 barrier.py ENDPOINT MODEL X Y [EVERY]"""
import math
import sys
import msgpack  # pip install pyzmq msgpack
import zmq


class Participant:
    """A program that takes part: each request gets one reply, which may take its time."""
    def __init__(self, endpoint, name, **terms):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        base, _, port = endpoint.rpartition(":")
        is_file = endpoint.startswith("ipc")  # by tcp, clients have the fourth port from the first
        self.socket.connect(f"{endpoint}/clients" if is_file else f"{base}:{int(port) + 4}")
        self.name, self.session, self.count = name, 0, 0
        self.request("Ping")  # the reply brings the session
        self.barrier = self.request({"JoinBarrier": {"name": name, **terms}})["Barrier"]

    def answer(self, *commands):
        reply = {"name": self.name, "iteration": self.barrier["iteration"], "commands": commands}
        self.barrier = self.request({"AnswerBarrier": reply})["Barrier"]

    def request(self, command):
        self.count += 1
        body = {"request": self.count, "command": command}
        message = {"version": 6, "session": self.session, "sender": self.name, "body": body}
        self.socket.send_multipart([b"/request", msgpack.packb(message)])
        answer = msgpack.unpackb(self.socket.recv_multipart()[1])
        self.session, reply = answer["session"], answer["body"]["reply"]
        failed = reply.get("Failed")
        return reply if not failed else sys.exit(failed["code"] != "ending" and failed["reason"])


def steer(pose, x, y):
    """Returns speed [m/s] and turn rate [rad/s] towards a place, by proportional control."""
    dx, dy, q = x - pose["position"]["x"], y - pose["position"]["y"], pose["orientation"]
    turn = math.remainder(math.atan2(dy, dx) - 2 * math.atan2(q["z"], q["w"]), 2 * math.pi)
    return min(1.0, math.hypot(dx, dy)) * max(0.0, math.cos(turn)), 2.0 * turn


if __name__ == "__main__":
    endpoint, model, x, y, *every = sys.argv[1:]
    topics = [f"/model/{model}/odometry"]
    run = Participant(endpoint, "pilot", every=int((every or [20])[0]), topics=topics)
    while True:
        heard = [msgpack.unpackb(one["body"]) for one in run.barrier["messages"]]
        ahead, turn = steer(heard[-1]["pose"], float(x), float(y)) if heard else (0.0, 0.0)
        twist = msgpack.packb({"linear": {"x": ahead}, "angular": {"z": turn}})
        topic = f"/model/{model}/cmd_vel"
        run.answer({"Publish": {"topic": topic, "kind": "gz.msgs.Twist", "body": twist}})

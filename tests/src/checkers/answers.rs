//! Nobody waits in vain: every request is answered exactly once, at the latest when the run ends.

use std::collections::BTreeMap;

use protocol::RequestId;

/// The requests of clients, with how often each was answered.
#[derive(Debug, Default)]
pub struct Answers {
    requests: BTreeMap<RequestId, u32>,
}

impl Answers {
    /// Takes a request as it is made.
    pub fn on_request(&mut self, request: RequestId) {
        self.requests.insert(request, 0);
    }

    /// Takes a reply.
    ///
    /// # Panics
    /// Panics if nobody asked, or the answer was given before.
    pub fn on_reply(&mut self, request: RequestId) {
        let count = self.requests.get_mut(&request);
        let count = count.unwrap_or_else(|| panic!("nobody made request {request:?}"));
        *count += 1;
        assert_eq!(*count, 1, "request {request:?} is answered once");
    }

    /// The primary is gone, and nobody will answer what it was asked.
    pub fn forget_open(&mut self) {
        self.requests.retain(|_, count| *count > 0);
    }

    /// Looks at what is left once the run is over.
    ///
    /// # Panics
    /// Panics if a request was not answered.
    pub fn check_complete(&self) {
        let open = self.requests.iter().find(|(_, count)| **count == 0);
        assert_eq!(open, None, "every request is answered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(replies: u32) -> Answers {
        let mut answers = Answers::default();
        answers.on_request(RequestId(1));
        for _ in 0..replies {
            answers.on_reply(RequestId(1));
        }
        answers
    }

    #[test]
    fn one_answer_is_what_everyone_gets() {
        answers(1).check_complete();
    }

    #[test]
    #[should_panic(expected = "is answered once")]
    fn a_second_answer_is_seen() {
        answers(2);
    }

    #[test]
    #[should_panic(expected = "every request is answered")]
    fn a_request_without_an_answer_is_seen() {
        answers(0).check_complete();
    }
}

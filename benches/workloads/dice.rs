//! Numbers, ids and words without pattern, the same ones in every run.

/// Numbers without pattern, the same ones for the same seed (xorshift64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn up_to(&mut self, end: u32) -> u32 {
        u32::try_from(self.roll() % u64::from(end)).unwrap_or_default()
    }

    /// As long as a UUID.
    pub(super) fn id(&mut self) -> String {
        let (high, low) = (self.roll(), self.roll());
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    pub(super) fn word(&mut self) -> &'static str {
        const WORDS: [&str; 16] = [
            "the", "train", "leaves", "at", "noon", "and", "arrives", "before", "evening", "if",
            "weather", "permits", "it", "größer", "ticket", "seat",
        ];
        WORDS[self.up_to(16) as usize]
    }

    pub(super) fn words(&mut self, count: usize) -> String {
        let words: Vec<_> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}

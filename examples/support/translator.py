"""An encoder and a decoder with attention between them, the attention one of two: everything else is the same."""
import math

import torch
from torch import nn

PAD, BEGIN, END = 0, 1, 2


class AdditiveAttention(nn.Module):
    """score(q, k) = w·tanh(W_q·q + W_k·k), of Bahdanau, Cho and Bengio (2015)."""

    def __init__(self, size):
        super().__init__()
        self.query, self.key = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)
        self.weigh = nn.Linear(size, 1, bias=False)

    def keys(self, encoded):
        return self.key(encoded)

    def forward(self, state, keys, values, mask):
        """state [b, size], keys and values [b, m, size], mask [b, m]: the context [b, size] and the weights [b, m]."""
        scores = self.weigh(torch.tanh(self.query(state)[:, None] + keys)).squeeze(2)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(1)
        return (weights[:, None] @ values)[:, 0], weights


class DotAttention(nn.Module):
    """score(q, k) = (W_q·q)·(W_k·k)/sqrt(size)."""

    def __init__(self, size):
        super().__init__()
        self.query, self.key = nn.Linear(size, size, bias=False), nn.Linear(size, size, bias=False)

    def keys(self, encoded):
        return self.key(encoded)

    def forward(self, state, keys, values, mask):
        scores = (keys @ self.query(state)[:, :, None]).squeeze(2) / math.sqrt(keys.shape[2])
        weights = scores.masked_fill(~mask, -torch.inf).softmax(1)
        return (weights[:, None] @ values)[:, 0], weights


class Translator(nn.Module):
    """A bidirectional GRU reads, a GRU writes: each word from the word before, the state, and what the state attends
    to."""

    def __init__(self, source_words, target_words, attention, size, seed):
        super().__init__()
        torch.manual_seed(seed)  # the attention comes last: what both models share begins with the same numbers
        self.source, self.target = nn.Embedding(source_words, size), nn.Embedding(target_words, size)
        self.encoder = nn.GRU(size, size // 2, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(size, size)
        self.decoder = nn.GRUCell(2 * size, size)
        self.out = nn.Linear(2 * size, target_words)
        self.attention = attention(size)

    def encode(self, source):
        """source [b, m], PAD after the end: what the decoder attends to, and its first state."""
        mask = source != PAD
        packed = nn.utils.rnn.pack_padded_sequence(self.source(source), mask.sum(1), batch_first=True,
                                                   enforce_sorted=False)
        encoded, last = self.encoder(packed)
        encoded = nn.utils.rnn.pad_packed_sequence(encoded, batch_first=True, total_length=source.shape[1])[0]
        state = torch.tanh(self.bridge(torch.cat([last[0], last[1]], 1)))
        return (self.attention.keys(encoded), encoded, mask), state

    def step(self, word, state, read, attend=None):
        """One word: its scores, the next state, and the weights. `attend` stands in for the attention."""
        context, weights = (attend or self.attention)(state, *read)
        state = self.decoder(torch.cat([self.target(word), context], 1), state)
        return self.out(torch.cat([state, context], 1)), state, weights

    def forward(self, source, target):
        """The scores of each word of target [b, n] that follows another."""
        read, state = self.encode(source)
        scores = []
        for t in range(target.shape[1] - 1):
            score, state, _ = self.step(target[:, t], state, read)
            scores.append(score)
        return torch.stack(scores, 1)

    @torch.no_grad()
    def translate(self, source, most, attend=None):
        """The most likely word at each step: words [b, most], weights [b, most, m]."""
        read, state = self.encode(source)
        word = torch.full((len(source),), BEGIN)
        words, weights = [], []
        for _ in range(most):
            score, state, weight = self.step(word, state, read, attend)
            word = score.argmax(1)
            words.append(word), weights.append(weight)
        return torch.stack(words, 1), torch.stack(weights, 1)

    @torch.no_grad()
    def weights_of(self, source, target):
        """The weights for each word of target that follows another, when the words before it are given."""
        read, state = self.encode(source)
        weights = []
        for t in range(target.shape[1] - 1):
            _, state, weight = self.step(target[:, t], state, read)
            weights.append(weight)
        return torch.stack(weights, 1)

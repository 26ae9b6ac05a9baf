import { writeFile } from "node:fs/promises";
import { seededRandom } from "evaluator-kit";

const WIDTH = 64;
const INNER = 128;
const CONTEXT = 4096;
const [UNKNOWN, NORMAL, CONTROL, BYTE] = [2, 1, 3, 6];
const [U32, F32, BOOL, STRING, ARRAY] = [4, 6, 7, 8, 9];
/** Every tensor begins at a multiple of this. */
const ALIGNMENT = 32;

const byteTokens = Array.from({ length: 256 }, (_, byte) => {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
});
const labels = [..."ABCDEFGHIJKLMNOP0123456789".split(""), "yes", "no", "Yes", "No"];
const pieces = [
  ...labels.flatMap((label) => [label, `▁${label}`]),
  "▁",
  ..."abcdefghijklmnopqrstuvwx".split(""),
];
/** The 344 tokens: three of control, every byte, the labels with and without a space, some letters. */
const vocabulary: readonly string[] = ["<unk>", "<s>", "</s>", ...byteTokens, ...pieces];

/**
 * Writes a llama model of one layer with seeded random weights, about 350 kB. It knows nothing, but
 * it likes some tokens: `likes` adds to their logits, whatever the prompt says. Returns its tokens by id.
 */
export async function writeTinyModel(
  path: string,
  likes: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const tensors = makeTensors(likes, normalNumbers());
  const entries = makeEntries();
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  for (const [name, shape, weights] of tensors) {
    infos.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    const bytes = pad(Buffer.from(weights.buffer));
    data.push(bytes);
    offset += bytes.length;
  }
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  const described = pad(Buffer.concat([...head, ...entries, ...infos]));
  await writeFile(path, Buffer.concat([described, ...data]));
  return vocabulary;
}

type Tensor = readonly [name: string, shape: readonly number[], weights: Float32Array];

function makeTensors(likes: Readonly<Record<string, number>>, next: () => number): Tensor[] {
  const random = (shape: number[], scale: number): [number[], Float32Array] => {
    const count = shape.reduce((product, size) => product * size, 1);
    return [shape, Float32Array.from({ length: count }, () => next() * scale)];
  };
  const ones: [number[], Float32Array] = [[WIDTH], new Float32Array(WIDTH).fill(1)];
  const embedding = random([WIDTH, vocabulary.length], 0.05);
  const output = random([WIDTH, vocabulary.length], 0.02);
  for (const [id, token] of vocabulary.entries()) {
    // The first number of every token is the same, so the norm makes it about √64 at the end.
    embedding[1][id * WIDTH] = 1;
    output[1][id * WIDTH] = (likes[token] ?? 0) / Math.sqrt(WIDTH);
  }
  return [
    ["token_embd.weight", ...embedding],
    ["blk.0.attn_norm.weight", ...ones],
    ["blk.0.attn_q.weight", ...random([WIDTH, WIDTH], 0.05)],
    ["blk.0.attn_k.weight", ...random([WIDTH, WIDTH], 0.05)],
    ["blk.0.attn_v.weight", ...random([WIDTH, WIDTH], 0.02)],
    ["blk.0.attn_output.weight", ...random([WIDTH, WIDTH], 0.02)],
    ["blk.0.ffn_norm.weight", ...ones],
    ["blk.0.ffn_gate.weight", ...random([WIDTH, INNER], 0.02)],
    ["blk.0.ffn_up.weight", ...random([WIDTH, INNER], 0.02)],
    ["blk.0.ffn_down.weight", ...random([INNER, WIDTH], 0.02)],
    ["output_norm.weight", ...ones],
    ["output.weight", ...output],
  ];
}

function makeEntries(): Buffer[] {
  const counts = {
    "llama.context_length": CONTEXT,
    "llama.embedding_length": WIDTH,
    "llama.block_count": 1,
    "llama.feed_forward_length": INNER,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 4,
    "llama.rope.dimension_count": WIDTH / 4,
    "llama.vocab_size": vocabulary.length,
    "tokenizer.ggml.unknown_token_id": 0,
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
  };
  const scores = vocabulary.map((_, id) => Buffer.from(Float32Array.of(-id).buffer));
  const epsilon = Buffer.from(Float32Array.of(1e-5).buffer);
  return [
    entry("general.architecture", STRING, text("llama")),
    entry("llama.attention.layer_norm_rms_epsilon", F32, epsilon),
    entry("tokenizer.ggml.model", STRING, text("llama")),
    entry("tokenizer.ggml.tokens", ARRAY, list(STRING, vocabulary.map(text))),
    entry("tokenizer.ggml.scores", ARRAY, list(F32, scores)),
    entry("tokenizer.ggml.token_type", ARRAY, list(U32 + 1, vocabulary.map(typeOf))),
    entry("tokenizer.ggml.add_bos_token", BOOL, Buffer.of(1)),
    ...Object.entries(counts).map(([key, value]) => entry(key, U32, u32(value))),
  ];
}

function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), u32(type), value]);
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(type), u64(items.length), ...items]);
}

function typeOf(token: string, id: number): Buffer {
  if (id === 0) return u32(UNKNOWN);
  if (id < 3) return u32(CONTROL);
  return u32(byteTokens.includes(token) ? BYTE : NORMAL);
}

/** Normally distributed numbers, always the same (Box and Muller). */
function normalNumbers(): () => number {
  const uniform = seededRandom(1);
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

function u32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer);
}

function u64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
}

function text(value: string): Buffer {
  const encoded = Buffer.from(value);
  return Buffer.concat([u64(encoded.length), encoded]);
}

/** Fills up to the place where a tensor may begin. */
function pad(buffer: Buffer): Buffer {
  return Buffer.concat([buffer, Buffer.alloc(-buffer.length & (ALIGNMENT - 1))]);
}

import { writeFile } from "node:fs/promises";

const WIDTH = 64;
const INNER = 128;
const CONTEXT = 4096;
const [UNKNOWN, NORMAL, CONTROL, BYTE] = [2, 1, 3, 6];
const [U32, F32, BOOL, STRING, ARRAY] = [4, 6, 7, 8, 9];
/** Every tensor begins at a multiple of this. */
const ALIGNMENT = 32;

const bytes = Array.from({ length: 256 }, (_, byte) => {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
});
const labels = [..."ABCDEFGHIJKLMNOP0123456789".split(""), "yes", "no", "Yes", "No"];
const pieces = [
  ...labels.flatMap((label) => [label, `▁${label}`]),
  "▁",
  ..."abcdefghijklmnopqrstuvwx".split(""),
];
/** The 344 tokens: three of control, every byte, the labels with and without a space, some letters. */
export const vocabulary: readonly string[] = ["<unk>", "<s>", "</s>", ...bytes, ...pieces];

/**
 * Writes a llama model of one layer with seeded random weights, about 350 kB. It knows nothing, but
 * it likes some tokens: `likes` adds to their logits, whatever the prompt says.
 */
export async function writeTinyModel(
  path: string,
  { likes, seed = 1 }: { likes: Readonly<Record<string, number>>; seed?: number },
): Promise<void> {
  const tensors = makeTensors(likes, normalNumbers(seed));
  const entries = makeEntries();
  let offset = 0;
  const infos = tensors.map(([name, shape, data]) => {
    const info = [text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)];
    offset += padded(data.byteLength);
    return Buffer.concat(info);
  });
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  const data = tensors.map(([, , weights]) => pad(Buffer.from(weights.buffer)));
  const described = pad(Buffer.concat([...head, ...entries, ...infos]));
  await writeFile(path, Buffer.concat([described, ...data]));
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
  return [
    entry("general.architecture", STRING, text("llama")),
    count("llama.context_length", CONTEXT),
    count("llama.embedding_length", WIDTH),
    count("llama.block_count", 1),
    count("llama.feed_forward_length", INNER),
    count("llama.attention.head_count", 4),
    count("llama.attention.head_count_kv", 4),
    entry("llama.attention.layer_norm_rms_epsilon", F32, f32(1e-5)),
    count("llama.rope.dimension_count", WIDTH / 4),
    count("llama.vocab_size", vocabulary.length),
    entry("tokenizer.ggml.model", STRING, text("llama")),
    entry("tokenizer.ggml.tokens", ARRAY, list(STRING, vocabulary.map(text))),
    entry(
      "tokenizer.ggml.scores",
      ARRAY,
      list(
        F32,
        vocabulary.map((_, id) => f32(-id)),
      ),
    ),
    entry("tokenizer.ggml.token_type", ARRAY, list(U32 + 1, vocabulary.map(typeOf))),
    count("tokenizer.ggml.unknown_token_id", 0),
    count("tokenizer.ggml.bos_token_id", 1),
    count("tokenizer.ggml.eos_token_id", 2),
    entry("tokenizer.ggml.add_bos_token", BOOL, Buffer.of(1)),
  ];
}

function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), u32(type), value]);
}

function count(key: string, value: number): Buffer {
  return entry(key, U32, u32(value));
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([u32(type), u64(items.length), ...items]);
}

function typeOf(token: string, id: number): Buffer {
  if (id === 0) return u32(UNKNOWN);
  if (id < 3) return u32(CONTROL);
  return u32(bytes.includes(token) ? BYTE : NORMAL);
}

/** Normally distributed numbers, the same for the same seed (mulberry32, Box and Muller). */
function normalNumbers(seed: number): () => number {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function f32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

function text(value: string): Buffer {
  const encoded = Buffer.from(value);
  return Buffer.concat([u64(encoded.length), encoded]);
}

function pad(buffer: Buffer): Buffer {
  return Buffer.concat([buffer, Buffer.alloc(padded(buffer.length) - buffer.length)]);
}

function padded(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

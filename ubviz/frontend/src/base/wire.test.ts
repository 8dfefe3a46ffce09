import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import type { Model } from "../timeline/model";
import { open } from "./wire";

const text = (value: string) => new TextEncoder().encode(value);
const words = (bytes: ArrayBuffer) => new TextDecoder().decode(bytes);

/** A head with some blocks, at an offset that no typed array could be laid over. */
function headOf(first: Record<string, string>, offset = 1): DataView {
  let at = 0;
  const blocks = Object.entries(first).map(([key, value]) => {
    const data = text(value);
    at += data.length;
    return { key, data, from: at - data.length };
  });
  const index = text(JSON.stringify({ first: blocks.map(({ key, data, from }) => [key, from, data.length]) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const head = deflateSync(Buffer.concat([length, index, ...blocks.map(({ data }) => data)]));
  const moved = Buffer.concat([Buffer.alloc(offset), head]);
  return new DataView(moved.buffer, moved.byteOffset + offset, head.length);
}

class FakeModel {
  readonly sent: string[][] = [];
  private readonly listeners = new Set<(content: unknown, buffers: unknown[]) => void>();

  get model(): Model {
    return this as unknown as Model;
  }

  send(content: { ask: string[] }): void {
    this.sent.push(content.ask);
  }

  on(_event: string, listener: (content: unknown, buffers: unknown[]) => void): void {
    this.listeners.add(listener);
  }

  off(_event: string, listener: (content: unknown, buffers: unknown[]) => void): void {
    this.listeners.delete(listener);
  }

  get heard(): number {
    return this.listeners.size;
  }

  answer(content: unknown, ...buffers: Uint8Array[]): void {
    for (const listener of [...this.listeners])
      listener(
        content,
        buffers.map((data) => unaligned(data)),
      );
  }
}

/** As it comes from a comm: a DataView at an odd offset. */
function unaligned(data: Uint8Array): DataView {
  const buffer = new ArrayBuffer(data.length + 3);
  new Uint8Array(buffer, 3).set(data);
  return new DataView(buffer, 3, data.length);
}

async function joined(first: Record<string, string> = {}) {
  const { wire } = await open(headOf(first));
  const fake = new FakeModel();
  const leave = new AbortController();
  wire.join(fake.model, leave.signal);
  return { wire, fake, leave };
}

const tick = () => new Promise<void>((resolve) => queueMicrotask(resolve));

test("what comes with the head is not asked for", async () => {
  const { wire, fake } = await joined({ facts: '{"names":["\u00e4"]}', "bars:0:0": "abc" });
  assert.deepEqual(await wire.json("facts"), { names: ["\u00e4"] });
  assert.equal(words(await wire.get("bars:0:0")), "abc");
  assert.deepEqual(fake.sent, []);
});

test("asks of one moment go as one message, and each key once", async () => {
  const { wire, fake } = await joined();
  const both = Promise.all([wire.get("a"), wire.get("b"), wire.get("a")]);
  await tick();
  assert.deepEqual(fake.sent, [["a", "b"]]);
  assert.equal(wire.pending(), 2);
  fake.answer(
    {
      blocks: [
        ["a", 0, 1],
        ["b", 0, 1],
      ],
    },
    deflateSync(text("A")),
    deflateSync(text("B")),
  );
  assert.deepEqual((await both).map(words), ["A", "B", "A"]);
  assert.equal(wire.pending(), 0);
});

test("pieces are joined in their order, however they come and how often", async () => {
  const { wire, fake } = await joined();
  const got = wire.get("a");
  await tick();
  const data = deflateSync(text("a long text, in three pieces"));
  const piece = (n: number) => data.subarray(n * 10, n === 2 ? data.length : (n + 1) * 10);
  for (const n of [2, 0, 0, 1]) fake.answer({ blocks: [["a", n, 3]] }, piece(n));
  fake.answer({ blocks: [["a", 1, 3]] }, piece(1));
  assert.equal(words(await got), "a long text, in three pieces");
});

test("a refusal rejects with its sentence, and one may ask again", async () => {
  const { wire, fake } = await joined();
  const got = wire.get("rows:spans:99");
  await tick();
  fake.answer({ refused: [["rows:spans:99", "this recording has no rows 'spans:99'"]] });
  await assert.rejects(got, { message: "this recording has no rows 'spans:99'" });
  const again = wire.get("rows:spans:99");
  await tick();
  fake.answer({ blocks: [["rows:spans:99", 0, 1]] }, deflateSync(text("[]")));
  assert.equal(words(await again), "[]");
  assert.equal(fake.sent.length, 2);
});

test("answers to others, and other messages, do no harm", async () => {
  const { wire, fake } = await joined();
  fake.answer({ blocks: [["unasked", 0, 1]] }, deflateSync(text("x")));
  fake.answer({ something: "else" });
  fake.answer(null);
  assert.equal(wire.pending(), 0);
});

test("views of one model share a store; when the view that asked goes, another asks again", async () => {
  const head = headOf({});
  const [first, second] = [await open(head), await open(head)];
  assert.equal(first.wire, second.wire);
  const [a, b] = [new FakeModel(), new FakeModel()];
  const [leaveA, leaveB] = [new AbortController(), new AbortController()];
  first.wire.join(a.model, leaveA.signal);
  const got = first.wire.get("k");
  await tick();
  leaveA.abort();
  assert.equal(a.heard, 0);
  second.wire.join(b.model, leaveB.signal);
  await tick();
  assert.deepEqual([a.sent, b.sent], [[["k"]], [["k"]]]);
  b.answer({ blocks: [["k", 0, 1]] }, deflateSync(text("here")));
  assert.equal(words(await got), "here");
});

test("what is asked for before any view has joined is asked when one does", async () => {
  const { wire } = await open(headOf({}));
  const got = wire.get("k");
  await tick();
  const fake = new FakeModel();
  wire.join(fake.model, new AbortController().signal);
  await tick();
  fake.answer({ blocks: [["k", 0, 1]] }, deflateSync(text("late")));
  assert.equal(words(await got), "late");
});

test("bytes that cannot be read are refused by name", async () => {
  const { wire, fake } = await joined();
  const got = wire.get("bars:0:0");
  await tick();
  fake.answer({ blocks: [["bars:0:0", 0, 1]] }, text("no zlib"));
  await assert.rejects(got, { message: "Block bars:0:0 cannot be read: its bytes are cut off or not deflated data." });
});

test("a head that is cut off says so", async () => {
  const whole = headOf({ facts: "{}" });
  for (const length of [0, 2, 20, whole.byteLength - 1]) {
    const cut = new DataView(whole.buffer, whole.byteOffset, length);
    await assert.rejects(open(cut), {
      message: "The head of this recording cannot be read: its bytes are cut off or not deflated data.",
    });
  }
});

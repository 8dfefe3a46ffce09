/** Blocks of a recording: from the head, or asked for by message and answered in pieces. */

import type { Sender } from "./model";

/** Of the index of a head: the blocks that come with it. */
interface Begins {
  first: [key: string, offset: number, length: number][];
}

export interface Wire {
  /** The inflated bytes of a block; rejects with the sentence of a refusal. */
  get(key: string): Promise<ArrayBuffer>;
  json<T>(key: string): Promise<T>;
  /** Let answers and asks go through this view's model until the signal aborts. */
  join(model: Sender, signal: AbortSignal): void;
  /** How many blocks have been asked for and not come yet. */
  pending(): number;
}

interface Opened<Index> {
  index: Index;
  wire: Wire;
}

/** Views of one model get the same DataView, but each a model object of its own. */
const opened = new WeakMap<DataView, Promise<Opened<any>>>();

/** Read a head; several views of one model share what it holds and all that comes later. */
export function open<Index extends Begins>(head: DataView): Promise<Opened<Index>> {
  let known = opened.get(head);
  if (!known) {
    known = read<Index>(head);
    opened.set(head, known);
  }
  return known;
}

async function read<Index extends Begins>(head: DataView): Promise<Opened<Index>> {
  const bytes = new Uint8Array(head.buffer as ArrayBuffer, head.byteOffset, head.byteLength);
  const whole = await inflate(bytes, "The head of this recording");
  const begin = 4 + new DataView(whole).getUint32(0, true);
  const index = parsed<Index>(whole.slice(4, begin));
  const at = (offset: number, size: number) => whole.slice(begin + offset, begin + offset + size);
  return { index, wire: new Store(new Map(index.first.map(([key, ...place]) => [key, at(...place)]))) };
}

interface Waiting {
  promise: Promise<ArrayBuffer>;
  resolve(bytes: ArrayBuffer): void;
  reject(error: Error): void;
  pieces: (Uint8Array<ArrayBuffer> | undefined)[];
  asked: boolean;
}

class Store implements Wire {
  readonly #blocks = new Map<string, Promise<ArrayBuffer>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #models = new Set<Sender>();
  #scheduled = false;

  constructor(first: Map<string, ArrayBuffer>) {
    for (const [key, bytes] of first) this.#blocks.set(key, Promise.resolve(bytes));
  }

  get(key: string): Promise<ArrayBuffer> {
    let known = this.#blocks.get(key);
    if (!known) {
      known = this.#wait(key).promise;
      this.#blocks.set(key, known);
    }
    return known;
  }

  async json<T>(key: string): Promise<T> {
    return parsed<T>(await this.get(key));
  }

  pending(): number {
    return this.#waiting.size;
  }

  join(model: Sender, signal: AbortSignal): void {
    if (signal.aborted) return;
    const listen = (content: unknown, buffers: unknown) => this.#hear(content, buffers);
    model.on("msg:custom", listen);
    this.#models.add(model);
    signal.addEventListener("abort", () => {
      model.off("msg:custom", listen);
      this.#models.delete(model);
    });
    // What was asked through a view that has gone may never be answered: ask again.
    if (this.#models.size === 1) for (const wanted of this.#waiting.values()) wanted.asked = false;
    this.#schedule();
  }

  #wait(key: string): Waiting {
    const wanted = { pieces: [], asked: false } as unknown as Waiting;
    wanted.promise = new Promise((resolve, reject) => Object.assign(wanted, { resolve, reject }));
    this.#waiting.set(key, wanted);
    this.#schedule();
    return wanted;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#ask();
    });
  }

  #ask(): void {
    const [model] = this.#models;
    const keys = [...this.#waiting].filter(([, wanted]) => !wanted.asked).map(([key]) => key);
    if (!model || keys.length === 0) return;
    for (const key of keys) this.#waiting.get(key)!.asked = true;
    model.send({ ask: keys });
  }

  /** Any message of the kernel: other views' answers come here too, and some come twice. */
  #hear(content: unknown, buffers: unknown): void {
    const { blocks, refused } = (content ?? {}) as { blocks?: unknown; refused?: unknown };
    if (Array.isArray(blocks)) {
      blocks.forEach(([key, piece, pieces], i) => this.#take(key, piece, pieces, (buffers as unknown[])?.[i]));
    }
    if (Array.isArray(refused)) {
      for (const [key, sentence] of refused) {
        this.#blocks.delete(key); // so that asking again is possible
        this.#drop(key)?.reject(new Error(String(sentence)));
      }
    }
  }

  #take(key: string, piece: number, pieces: number, buffer: unknown): void {
    const wanted = this.#waiting.get(key);
    if (!wanted) return;
    if (wanted.pieces.length !== pieces) wanted.pieces = new Array(pieces).fill(undefined);
    wanted.pieces[piece] ??= bytesOf(buffer);
    if (wanted.pieces.some((bytes) => bytes === undefined)) return;
    this.#drop(key);
    inflate(joined(wanted.pieces as Uint8Array<ArrayBuffer>[]), `Block ${key}`).then(wanted.resolve, wanted.reject);
  }

  #drop(key: string): Waiting | undefined {
    const wanted = this.#waiting.get(key);
    this.#waiting.delete(key);
    return wanted;
  }
}

function bytesOf(buffer: unknown): Uint8Array<ArrayBuffer> {
  if (ArrayBuffer.isView(buffer)) {
    return new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset, buffer.byteLength);
  }
  return new Uint8Array(buffer as ArrayBuffer);
}

function joined(pieces: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  if (pieces.length === 1) return pieces[0];
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Inflated bytes lie in a buffer of their own, so that typed arrays may be laid over them. Written and read
 * by hand: a blob's stream goes through another process, which takes longer than the inflating.
 */
async function inflate(bytes: Uint8Array<ArrayBuffer>, what: string): Promise<ArrayBuffer> {
  try {
    const { readable, writable } = new DecompressionStream("deflate");
    const writer = writable.getWriter();
    for (const done of [writer.write(bytes), writer.close()]) done.catch(() => {}); // reading says it too
    const reader = readable.getReader() as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (let next; !(next = await reader.read()).done; ) pieces.push(next.value);
    const { buffer, length } = joined(pieces);
    return buffer.byteLength === length ? buffer : joined([...pieces, new Uint8Array()]).buffer;
  } catch {
    throw new Error(`${what} cannot be read: its bytes are cut off or not deflated data.`);
  }
}

function parsed<T>(bytes: ArrayBuffer): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

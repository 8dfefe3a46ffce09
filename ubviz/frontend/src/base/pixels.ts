/** Small images that are worked out pixel by pixel, and drawn row by row, each stretched to its height. */

export interface Pixels {
  canvas: HTMLCanvasElement;
  ctx: CanvasRenderingContext2D;
  image: ImageData;
  /** Those of the image: alpha, blue, green, red from the highest byte down. */
  values: Uint32Array;
}

export type PixelStore = WeakMap<HTMLCanvasElement, Pixels>;

/** An image as wide, and at least as high; the last one of this canvas where it serves. */
export function pixelsFor(
  store: PixelStore,
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): Pixels {
  const old = store.get(canvas);
  if (old && old.image.width === width && old.image.height >= height) return old;
  const own = canvas.ownerDocument.createElement("canvas");
  own.width = width;
  own.height = height;
  const ctx = own.getContext("2d", { willReadFrequently: true })!;
  const image = ctx.createImageData(width, height);
  const made = { canvas: own, ctx, image, values: new Uint32Array(image.data.buffer) };
  store.set(canvas, made);
  return made;
}

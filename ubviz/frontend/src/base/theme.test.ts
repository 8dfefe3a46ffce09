import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, DARK, LIGHT, mix } from "./theme";

test("the colours are those of the still picture", () => {
  assert.equal(LIGHT.ubatch(1), "#d9780f");
  assert.deepEqual([LIGHT.ubatch(9), LIGHT.ubatch(17)], ["#7e4b14", "#d9780f"]);
  assert.equal(LIGHT.ubatch(null), LIGHT.main);
  assert.equal(mix("#000000", "#ffffff", 0.5), "#808080");
});

test("text on a span is whichever of white and black reads better", () => {
  assert.deepEqual([LIGHT.on("#2f6fde"), LIGHT.on("#d9780f")], ["#ffffff", "#0f131b"]);
});

test("text has a contrast of 4.5 on all that it stands on", () => {
  for (const palette of [LIGHT, DARK]) {
    for (const text of [palette.ink, palette.soft]) assert.ok(contrast(text, palette.background) >= 4.5);
    const all = Array.from({ length: 16 }, (_, ubatch) => palette.ubatch(ubatch));
    assert.equal(new Set(all).size, 16);
    for (const colour of [...all, palette.main]) {
      for (const ground of [colour, palette.tint(colour, 0.16), palette.tint(colour, 0.08)]) {
        assert.ok(contrast(palette.on(ground), ground) >= 4.5, `${palette.name} ${ground}`);
      }
      assert.ok(contrast(palette.ink, palette.tint(colour, 0.14)) >= 4.5);
    }
  }
});

/** The picture by the clock: CPU threads above streams, time to the right. */

import type { Picture, Seen } from "./draw";
import { paintArrows } from "./draw_arrows";
import { paintBackground, paintBegins, paintLines, paintNames, paintRuler } from "./draw_ground";
import {
  diamondsOf,
  paintClears,
  paintDiamonds,
  paintEvents,
  paintGates,
  paintRings,
  takeDiamonds,
} from "./draw_marks";
import { Specks } from "./draw_specks";
import { paintStream, paintWaitTexts } from "./draw_streams";
import { paintStrips, type Strip } from "./draw_strips";
import { paintInner, paintThread, paintThreadTexts } from "./draw_threads";
import { Sheet } from "./sheet";

/** Shapes in one picture beyond which it is crowded. */
const CROWD = 900;

export function wall(p: Picture): Seen {
  const sheet = new Sheet(p);
  paintBackground(sheet);
  paintLines(sheet);
  paintRuler(sheet);
  paintNames(sheet);
  sheet.clipped(() => paintPlot(sheet), 4);
  paintBegins(sheet);
  return sheet.seen;
}

export function empty(p: Picture): Seen {
  const sheet = new Sheet(p);
  paintBackground(sheet);
  return sheet.seen;
}

function paintPlot(sheet: Sheet): void {
  const { data } = sheet.p;
  const strips = paintStrips(
    sheet,
    data.bars.filter((track) => track.spec.layer !== "inner"),
  );
  sheet.crowded = strips.reduce((sum, { wide }) => sum + wide.length, 0) > CROWD;
  const threads = strips.filter((strip) => strip.row.group === "threads");
  const streams = strips.filter((strip) => strip.row.group !== "threads");
  const waits = streams.filter((strip) => strip.track.spec.layer === "waits");
  const kernels = streams.filter((strip) => strip.track.spec.layer === "main");
  for (const strip of [...threads, ...waits]) paintThread(sheet, strip);
  const specks = new Specks(sheet, 3 * data.index.lanes.length);
  const marks = diamondsOf(sheet, specks);
  takeDiamonds(sheet, marks);
  paintArrows(sheet, marks);
  for (const strip of kernels) paintStream(sheet, strip);
  paintClears(sheet, specks);
  paintGates(sheet);
  paintRings(sheet, specks);
  specks.paint();
  paintDiamonds(sheet, marks);
  paintEvents(sheet);
  for (const strip of waits) paintWaitTexts(sheet, strip);
  paintTexts(sheet, threads);
}

function paintTexts(sheet: Sheet, threads: readonly Strip[]): void {
  for (const strip of threads) paintThreadTexts(sheet, strip);
  for (const track of sheet.p.data.bars) {
    if (track.spec.layer !== "inner") continue;
    const main = threads.find((strip) => strip.track.spec.lane === track.spec.lane);
    if (main) paintInner(sheet, track, main, main.row);
  }
}

// What tests/bench/timeline.py measures, in the page. Every figure is in milliseconds.
(() => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  // A moment after the next frame's callbacks, when all of them have painted.
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done();
    port2.postMessage(null);
  }));
  const root = () => document.querySelector(".ubviz-timeline");

  // Turns of the wheel, one a frame: into the middle, to the right and back, and out again.
  const TURNS = [
    ...Array(24).fill([0, -100]), ...Array(12).fill([60, 0]), ...Array(12).fill([-60, 0]), ...Array(24).fill([0, 100]),
  ];

  // The times between frames while each frame shows another range; none begins after `most` ms.
  async function frames(steps, show, most = Infinity) {
    const times = [];
    let last = await frame();
    const begun = last;
    for (const step of steps) {
      show(step);
      const now = await frame();
      times.push(now - last);
      last = now;
      if (now - begun > most) break;
    }
    return times;
  }

  // The frames of a timeline whose wheel is turned; its own paints, and the ranges that it showed.
  async function turned() {
    const stage = document.querySelector(".ubviz-stage");
    stage.focus();
    const box = stage.getBoundingClientRect();
    const at = { clientX: box.left + box.width * 0.55, clientY: box.top + box.height / 2, bubbles: true, cancelable: true };
    const paints = [], ranges = [];
    const watch = new MutationObserver(() => {
      paints.push(Number(root().dataset.ubvizPaintMs));
      ranges.push(root().dataset.ubvizRange.split(",").map(Number));
    });
    watch.observe(root(), { attributes: true, attributeFilter: ["data-ubviz-seq"] });
    const times = await frames(TURNS, ([deltaX, deltaY]) =>
      stage.dispatchEvent(new WheelEvent("wheel", { ...at, deltaX, deltaY })));
    await frame();
    watch.disconnect();
    return { times, paints, ranges };
  }

  // Begun before a pointer event is made: from that event to the end of the frame in which `fact` has changed;
  // null if it does not change.
  function answered(type, fact) {
    const before = root().dataset[fact];
    return new Promise((done) => {
      const told = async (event) => {
        for (let i = 0; i < 30; i += 1) {
          await painted();
          if (root().dataset[fact] !== before) return done(performance.now() - event.timeStamp);
        }
        done(null);
      };
      document.addEventListener(type, told, { capture: true, once: true });
    });
  }

  window.bench = { frames, turned, answered };
})();

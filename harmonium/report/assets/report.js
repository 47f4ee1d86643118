// Draws the charts of a report from the JSON in #chart-data, in the colours of report.css, and brings its buttons to
// life. Sets data-charts-drawn (canvases that really hold a curve) and data-errors on <html> when all is done.
'use strict';
(() => {
  const root = document.documentElement;
  const charts = [];

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const translucent = (hex) => hex + '2e';

  // Typography of numbers as in the page: a true minus sign, narrow spaces between thousands.
  const typeset = (text) => text.replace(/-/g, '\u2212').replace(/,/g, '\u202f');
  const readable = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return typeset(value.toExponential(3));
    return typeset(value.toLocaleString('en-US', Number.isInteger(value) ? {} : {maximumSignificantDigits: 5}));
  };

  // Ticks of a logarithmic axis: powers of ten, and 2 and 5 between them where there are few.
  const logarithmicTick = function (value) {
    const exponent = Math.floor(Math.log10(value) + 1e-9);
    const leading = Math.round(value / 10 ** exponent);
    const decades = Math.log10(this.max / this.min);
    if (leading !== 1 && (decades > 2.5 || (leading !== 2 && leading !== 5))) return '';
    if (exponent >= -3 && exponent < 5) return typeset(value.toLocaleString('en-US', {maximumSignificantDigits: 3}));
    const superscript = String(exponent).replace(/./g, (digit) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(digit)]);
    return (leading === 1 ? '' : leading + '\u00b7') + '10' + superscript;
  };
  const labelledTicks = (scale) => {
    scale.ticks = scale.ticks.filter(({value}) => logarithmicTick.call(scale, value) !== '');
  };
  // Round numbers inside the range of a linear axis, about `wanted` of them.
  const roundNumbers = (low, high, wanted) => {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const miss = (factor) => Math.abs(Math.log(factor * power / rough));
    const step = power * [1, 2, 2.5, 5, 10].reduce((best, factor) => (miss(factor) < miss(best) ? factor : best));
    const numbers = [];
    for (let i = Math.ceil(low / step - 1e-9); i <= high / step + 1e-9; ++i) {
      numbers.push(Number((i * step).toPrecision(12)));
    }
    return numbers;
  };
  const roundTicks = (scale) => {
    const wanted = scale.axis === 'y' ? 5 : Math.min(7, scale.chart.width / 90);
    if (scale.max > scale.min) scale.ticks = roundNumbers(scale.min, scale.max, wanted).map((value) => ({value}));
  };
  const linearTick = function (value, index, ticks) {
    return typeset(Chart.Ticks.formatters.numeric.call(this, value, index, ticks));
  };

  // The reader points at an x; every visible curve answers with its point nearest to it, though their x may differ.
  Chart.Interaction.modes.everySeries = (chart, event) => {
    const items = [];
    chart.getSortedVisibleDatasetMetas().forEach((meta) => {
      if (chart.data.datasets[meta.index].isBand) return;
      let best = -1;
      let distance = Infinity;
      meta.data.forEach((element, index) => {
        if (element.skip || Math.abs(element.x - event.x) >= distance) return;
        distance = Math.abs(element.x - event.x);
        best = index;
      });
      if (best >= 0) items.push({element: meta.data[best], datasetIndex: meta.index, index: best});
    });
    return items.sort((a, b) => a.datasetIndex - b.datasetIndex);
  };

  const crosshair = {
    id: 'crosshair',
    beforeDatasetsDraw(chart) {
      const active = chart.getActiveElements();
      if (!active.length) return;
      const {ctx, chartArea} = chart;
      ctx.save();
      ctx.strokeStyle = colour('--soft');
      ctx.setLineDash([3, 3]);
      ctx.beginPath();
      ctx.moveTo(active[0].element.x, chartArea.top);
      ctx.lineTo(active[0].element.x, chartArea.bottom);
      ctx.stroke();
      ctx.restore();
    },
  };

  function datasetsOf(series, index) {
    const points = (values) => series.x.map((x, i) => ({x, y: values[i]}));
    const common = {seriesIndex: index, colour: series.colour, pointRadius: 0, pointHoverRadius: 0, spanGaps: false};
    const few = series.x.length <= 30;
    const line = {
      ...common, label: series.name, data: points(series.y), borderWidth: 1.75, borderJoinStyle: 'round',
      borderDash: series.dashed ? [6, 4] : series.dotted ? [2, 3] : [], pointRadius: few ? 2.5 : 0, pointHoverRadius: 4, order: 0,
    };
    if (series.marked) Object.assign(line, {pointStyle: 'rectRot', pointRadius: 6, pointHoverRadius: 7, order: -1, marked: true});
    if (series.unjoined) Object.assign(line, {showLine: false, pointRadius: 2.5});
    if (!series.low.length) return [line];
    const edge = {...common, isBand: true, borderWidth: 0, order: 1};
    return [{...edge, data: points(series.low)}, {...edge, data: points(series.high), fill: '-1'}, line];
  }

  // A point alone between gaps has no line to be seen by; give it a dot.
  const dotsForLonePoints = (dataset) => {
    const value = (i) => dataset.data[i] && dataset.data[i].y !== null;
    const usual = dataset.pointRadius;
    dataset.pointRadius = dataset.data.map((_, i) => (value(i) && !value(i - 1) && !value(i + 1) ? Math.max(2.5, usual) : usual));
  };

  function scaleOf(axis, logarithmic, title) {
    return {
      type: logarithmic ? 'logarithmic' : 'linear',
      // The curves fill a linear axis; one rounded up to its ticks would waste up to half of it.
      bounds: logarithmic ? 'ticks' : 'data',
      grace: axis === 'y' ? '5%' : 0,
      afterBuildTicks: logarithmic ? labelledTicks : roundTicks,
      title: {display: Boolean(title), text: title, align: 'end', padding: {top: 2}, font: {size: 12}},
      grid: {display: axis === 'y', drawBorder: axis === 'x', drawTicks: false},
      ticks: {
        padding: 8, maxRotation: 0, autoSkipPadding: 12, font: {size: 12},
        callback: logarithmic ? logarithmicTick : linearTick,
      },
    };
  }

  function tooltipLabel(item) {
    const {dataset, dataIndex, chart} = item;
    const series = chart.reportSeries[dataset.seriesIndex];
    const band = series.low.length && series.low[dataIndex] !== null
      ? ` [${readable(series.low[dataIndex])}, ${readable(series.high[dataIndex])}]` : '';
    return ` ${dataset.label}  ${readable(item.raw.y)}${band}`;
  }

  function paint(chart) {
    const {options, data} = chart;
    const [ink, soft, paper] = ['--ink', '--soft', '--paper'].map(colour);
    data.datasets.forEach((dataset) => {
      const own = colour(`--series-${dataset.colour}`);
      dataset.borderColor = own;
      dataset.backgroundColor = dataset.isBand ? translucent(own) : dataset.marked ? paper : own;
      dataset.pointHoverBorderColor = paper;
    });
    for (const scale of [options.scales.x, options.scales.y]) {
      scale.ticks.color = soft;
      scale.title.color = soft;
      scale.grid.color = colour('--grid');
      scale.grid.borderColor = colour('--hair');
    }
    Object.assign(options.plugins.tooltip, {
      backgroundColor: paper, borderColor: colour('--hair'), titleColor: soft, bodyColor: ink,
    });
    chart.update('none');
  }

  function draw(canvas, {xLabel, logX, logY, series}) {
    const datasets = series.flatMap(datasetsOf);
    const scales = {x: scaleOf('x', logX, xLabel), y: scaleOf('y', logY, '')};
    // Updates are counted from zero, whenever the first one was written down.
    const ends = series.flatMap(({x}) => [x[0], x[x.length - 1]]).filter(Number.isFinite);
    const [first, last] = [Math.min(...ends), Math.max(...ends)];
    if (!logX && first > 0 && first < 0.1 * last) scales.x.min = 0;
    datasets.filter((dataset) => !dataset.isBand).forEach(dotsForLonePoints);
    const chart = new Chart(canvas, {
      type: 'line',
      data: {datasets},
      plugins: [crosshair],
      options: {
        animation: false,
        parsing: false,
        responsive: true,
        maintainAspectRatio: false,
        // At least two pixels a point, so that paper and zoom get sharp lines.
        devicePixelRatio: Math.max(2, window.devicePixelRatio || 1),
        font: {family: getComputedStyle(document.body).fontFamily},
        layout: {padding: {top: 6, right: 10}},
        interaction: {mode: 'everySeries', intersect: false},
        scales,
        plugins: {
          legend: {display: false},
          tooltip: {
            borderWidth: 1, padding: 10, cornerRadius: 4, usePointStyle: true, boxWidth: 8, titleFont: {weight: 'normal'},
            callbacks: {
              title: (items) => (items.length ? `${xLabel} ${readable(items[0].raw.x)}` : ''),
              label: tooltipLabel,
              labelPointStyle: () => ({pointStyle: 'circle', rotation: 0}),
            },
          },
        },
      },
    });
    chart.reportSeries = series;
    paint(chart);
    return chart;
  }

  function connectLegend(chart) {
    chart.canvas.closest('figure').querySelectorAll('.legend button').forEach((button) => {
      button.addEventListener('click', () => {
        const visible = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', String(visible));
        chart.data.datasets.forEach((dataset, i) => {
          if (dataset.seriesIndex === Number(button.dataset.series)) chart.setDatasetVisibility(i, visible);
        });
        chart.update('none');
      });
    });
  }

  // Looks for the curves' own colours among the pixels: axes alone do not count as drawn.
  function holdsACurve(chart) {
    const {canvas, ctx} = chart;
    if (!canvas.width || !canvas.height) return false;
    const pixels = ctx.getImageData(0, 0, canvas.width, canvas.height).data;
    const wanted = chart.data.datasets.filter((dataset) => !dataset.isBand)
      .map(({borderColor}) => [1, 3, 5].map((at) => parseInt(borderColor.slice(at, at + 2), 16)));
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] < 250) continue;
      if (wanted.some((rgb) => rgb.every((level, c) => Math.abs(level - pixels[i + c]) < 6))) return true;
    }
    return false;
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = 'Copied';
    } catch {
      // Not allowed here: select the text, so that one key stroke copies it.
      getSelection().selectAllChildren(source);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1600);
  }

  // On paper a chart is drawn anew for its column of an A4 page, with text of the size it will have there; on other
  // paper the style sheet scales it.
  function setPrinting(printing) {
    root.classList.toggle('printing', printing);
    for (const chart of charts) {
      paint(chart);
      const figure = chart.canvas.closest('figure');
      const wide = getComputedStyle(figure).gridColumnEnd === '-1';
      if (!printing) chart.resize();
      else if (wide) chart.resize(760, 225);
      else chart.resize(365, 225);
    }
  }

  const data = JSON.parse(document.getElementById('chart-data').textContent);
  document.querySelectorAll('.plot canvas').forEach((canvas, i) => {
    const chart = draw(canvas, data[i]);
    charts.push(chart);
    connectLegend(chart);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach(paint));
  window.addEventListener('beforeprint', () => setPrinting(true));
  window.addEventListener('afterprint', () => setPrinting(false));
  document.querySelectorAll('.copy').forEach((button) => {
    button.hidden = false;
    button.addEventListener('click', () => copy(button));
  });

  root.dataset.chartsDrawn = charts.filter(holdsACurve).length;
  root.dataset.errors = window.reportErrors.length;
})();

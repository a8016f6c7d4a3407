for (const steps of document.querySelectorAll('.steps')) {
  const spans = (part) => part.dataset.spans.split(' ').map((span) => span.split('-').map(Number));
  const parts = [...steps.querySelectorAll('[data-spans]')];
  const times = [...new Set(parts.flatMap(spans).flat())].sort((a, b) => a - b);
  const pick = steps.querySelector('input'), says = steps.querySelector('output');
  const show = () => {
    const now = times[pick.value];
    // What takes no time is there in its instant.
    const busy = ([from, to]) => from <= now && (now < to || from === to && now === to);
    for (const part of parts) part.classList.toggle('busy', spans(part).some(busy));
    const names = [...steps.querySelectorAll('g.busy')].map((block) => block.dataset.name);
    says.value = `${(now / 1e6).toFixed(3)} µs: ${names.join(', ') || 'nothing'}`;
    pick.setAttribute('aria-valuetext', says.value);
  };
  pick.max = times.length - 1;
  pick.addEventListener('input', show);
  steps.querySelector('.pick').hidden = false;
  show();
}

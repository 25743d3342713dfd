import type { Page } from 'playwright-core';

// Runs in the page, and finds the texts whose contrast with their background is below WCAG AA.
const script = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => (part * a + below[i] * (255 - a)) / 255);
  const luminance = (color) => {
    const [r, g, b] = color.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const color = rgba(getComputedStyle(element).backgroundColor);
    return color[3] === 255 ? color.slice(0, 3) : over(color, ground(element.parentElement));
  };
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || element.closest('.for-readers, :disabled, script, title')) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const [light, dark] = [luminance(over(rgba(style.color), below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) wrong.push(node.data.trim() + ': ' + ratio.toFixed(2));
  }
  return wrong;
})()`;

/** Returns the texts on a page whose contrast is too low for WCAG AA, each with its contrast. */
export function paleTexts(page: Page): Promise<string[]> {
  return page.evaluate(script);
}

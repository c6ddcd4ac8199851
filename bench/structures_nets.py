"""Small networks of torch, one of each structure that bench/structures.py looks at: how it is made, shape of its input."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def conv(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs), act()
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([conv(3, 16), conv(16, 32), conv(32, 64)])
        self.grow = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.up = nn.ModuleList([conv(64, 32), conv(32, 16)])
        self.out = nn.Conv2d(16, 4, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](F.max_pool2d(a, 2))
        y = self.down[2](F.max_pool2d(b, 2))
        for grow, up, skip in zip(self.grow, self.up, (b, a)):
            y = up(torch.cat([grow(y), skip], 1))
        return torch.sigmoid(self.out(y))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = kind(20, 32, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        return self.out(self.layers(x)[0])


class Squeezed(nn.Module):
    """Blocks of MobileNetV3, with squeeze and excitation."""

    def __init__(self):
        super().__init__()
        self.first = conv(3, 16, 3, 2, act=nn.Hardswish)
        self.wide = conv(16, 64, 5, act=nn.Hardswish)
        self.few, self.many = nn.Conv2d(64, 16, 1), nn.Conv2d(16, 64, 1)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = self.wide(self.first(x))
        x = x * F.hardsigmoid(self.many(F.relu(self.few(x.mean((2, 3), keepdim=True)))))
        return self.out(x.mean((2, 3)))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(16 + 8 * i) for i in range(6)])
        self.convs = nn.ModuleList([nn.Conv2d(16 + 8 * i, 8, 3, padding=1) for i in range(6)])
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = self.first(x)
        for norm, layer in zip(self.norms, self.convs):
            x = torch.cat([x, layer(F.relu(norm(x)))], 1)
        return self.out(x.mean((2, 3)))


class Anchors(nn.Module):
    """A detector that joins decoded boxes with scores in each of two heads, and then the heads, as YOLOv5 does."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(3, 32, 3, 2, act=nn.SiLU), conv(32, 64, 3, 2, act=nn.SiLU))
        self.next = conv(64, 64, 3, 2, act=nn.SiLU)
        self.heads = nn.ModuleList([nn.Conv2d(64, 45, 1), nn.Conv2d(64, 45, 1)])
        self.register_buffer("anchors", torch.tensor([[[10.0, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 119]]]))

    def decode(self, x, stride, anchors):
        batch, _, height, width = x.shape
        x = x.view(batch, 3, 15, height, width).permute(0, 1, 3, 4, 2).sigmoid()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        places = (x[..., :2] * 2 - 0.5 + torch.stack([columns, rows], -1).float()) * stride
        sizes = (x[..., 2:4] * 2) ** 2 * anchors.view(1, 3, 1, 1, 2)
        return torch.cat([places, sizes, x[..., 4:]], -1).view(batch, -1, 15)

    def forward(self, x):
        near = self.body(x)
        both = zip(self.heads, (near, self.next(near)), (4, 8), self.anchors)
        return torch.cat([self.decode(head(y), stride, anchors) for head, y, stride, anchors in both], 1)


class Single(nn.Module):
    """A detector that flattens what its scales give before it joins it, as SSD does."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(3, 32, 3, 2), conv(32, 64, 3, 2))
        self.next = conv(64, 64, 3, 2)
        self.boxes = nn.ModuleList([nn.Conv2d(64, 16, 3, padding=1) for _ in range(2)])
        self.classes = nn.ModuleList([nn.Conv2d(64, 20, 3, padding=1) for _ in range(2)])

    def forward(self, x):
        near = self.body(x)
        scales = near, self.next(near)
        boxes = [head(y).permute(0, 2, 3, 1).reshape(1, -1, 4) for head, y in zip(self.boxes, scales)]
        classes = [head(y).permute(0, 2, 3, 1).reshape(1, -1, 5) for head, y in zip(self.classes, scales)]
        return torch.cat(boxes, 1), torch.cat(classes, 1).softmax(-1)


class Gated(nn.Module):
    """Dilated convolutions of sounds, as WaveNet has them."""

    def __init__(self):
        super().__init__()
        self.first, self.out = nn.Conv1d(1, 32, 1), nn.Conv1d(32, 16, 1)
        self.gates = nn.ModuleList([nn.Conv1d(32, 64, 2, dilation=2**k) for k in range(6)])
        self.rest = nn.ModuleList([nn.Conv1d(32, 32, 1) for _ in range(6)])

    def forward(self, x):
        x = self.first(x)
        total = 0
        for k, (gate, rest) in enumerate(zip(self.gates, self.rest)):
            one, other = gate(F.pad(x, (2**k, 0))).chunk(2, 1)
            y = rest(torch.tanh(one) * torch.sigmoid(other))
            total, x = total + y, x + y
        return self.out(F.relu(total))


class Conformer(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.first, self.out = nn.Linear(40, size), nn.Linear(size, 30)
        self.norms = nn.ModuleList([nn.LayerNorm(size) for _ in range(4)])
        self.feed = nn.Sequential(nn.Linear(size, 128), nn.SiLU(), nn.Linear(128, size))
        self.heads, self.mix = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.last = nn.Conv1d(size, 2 * size, 1), nn.Conv1d(size, size, 1)
        self.deep = nn.Sequential(nn.Conv1d(size, size, 15, padding=7, groups=size), nn.BatchNorm1d(size), nn.SiLU())

    def forward(self, x):
        x = self.first(x)
        x = x + 0.5 * self.feed(self.norms[0](x))
        batch, length, size = x.shape
        query, key, value = self.heads(self.norms[1](x)).view(batch, length, 3, 4, size // 4).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value).transpose(1, 2)
        x = x + self.mix(attended.reshape(batch, length, size))
        y = F.glu(self.wide(self.norms[2](x).transpose(1, 2)), 1)
        return self.out(self.norms[3](x + self.last(self.deep(y)).transpose(1, 2)))


class Spectrum(nn.Module):
    """A network with the spectrum of its sounds inside."""

    def __init__(self, size=256):
        super().__init__()
        turns = torch.arange(size // 2 + 1)[:, None] * torch.arange(size)[None] * 2 * math.pi / size
        self.register_buffer("real", (torch.cos(turns) * torch.hann_window(size))[:, None])
        self.register_buffer("imaginary", (-torch.sin(turns) * torch.hann_window(size))[:, None])
        self.register_buffer("bands", torch.rand(40, size // 2 + 1) ** 8)
        self.body = nn.Sequential(conv(1, 16, 3, 2), conv(16, 32, 3, 2))
        self.out = nn.Linear(32, 10)

    def forward(self, x):
        power = F.conv1d(x, self.real, stride=128) ** 2 + F.conv1d(x, self.imaginary, stride=128) ** 2
        bands = torch.log(self.bands @ power + 1e-6)
        even = (bands - bands.mean()) / (bands.std() + 1e-5)
        return self.out(self.body(even[:, None]).mean((2, 3)))


class Encoder(nn.Module):
    """Generators: strided and transposed convolutions, InstanceNorm, Resize, PReLU, ELU."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.InstanceNorm2d(64, affine=True),
            nn.PReLU(64), nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ELU(), nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Conv2d(32, 3, 3, 1, 1), nn.Tanh())  # fmt: skip

    def forward(self, x):
        return self.body(x)


NETS = {
    "unet": (UNet, (1, 3, 32, 32)),
    "lstm": (lambda: Recurrent(nn.LSTM), (1, 30, 20)),
    "gru": (lambda: Recurrent(nn.GRU), (1, 30, 20)),
    "squeezed": (Squeezed, (1, 3, 32, 32)),
    "dense": (Dense, (1, 3, 32, 32)),
    "anchors": (Anchors, (1, 3, 64, 64)),
    "single": (Single, (1, 3, 64, 64)),
    "gated": (Gated, (1, 1, 200)),
    "conformer": (Conformer, (1, 50, 40)),
    "spectrum": (Spectrum, (1, 1, 8000)),
    "encoder": (Encoder, (1, 3, 32, 32)),
}

// The matrices on which formats are compared: 20 kinds of the gallery in two sizes. Stencils have
// random values, since constant ones are stored as one number for 32. Those left out have the
// pattern of another.
#pragma once

#include <array>

namespace krylith::bench {

/// About 10 and 60 million nonzeros.
inline constexpr std::array<const char*, 40> gallery_matrices = {
    "gallery:anisotropic_diffusion:1050:0.01:30:random=1",
    "gallery:anisotropic_diffusion:2600:0.01:30:random=1",
    "gallery:convection_diffusion:113:10:random=1",
    "gallery:convection_diffusion:205:10:random=1",
    "gallery:delaunay:1300",
    "gallery:delaunay:3160",
    "gallery:elasticity3d:35",
    "gallery:elasticity3d:63",
    "gallery:fullchip:1100000",
    "gallery:fullchip:6700000",
    "gallery:jump_diffusion:113:10000:seed=1",
    "gallery:jump_diffusion:205:10000:seed=1",
    "gallery:kmer:4800000",
    "gallery:kmer:28600000",
    "gallery:kron:18:20",
    "gallery:kron:21",
    "gallery:nlpkkt:56",
    "gallery:nlpkkt:103",
    "gallery:poisson2d:1420:random=1",
    "gallery:poisson2d:3470:random=1",
    "gallery:poisson2d_9point:1060:random=1",
    "gallery:poisson2d_9point:2580:random=1",
    "gallery:poisson3d:113:random=1",
    "gallery:poisson3d:205:random=1",
    "gallery:poisson3d_27point:72:random=1",
    "gallery:poisson3d_27point:131:random=1",
    "gallery:random:156000:64",
    "gallery:random:3750000:16",
    "gallery:random_spd:400000:25",
    "gallery:random_spd:600000:100",
    "gallery:rgg:20",
    "gallery:rgg:22",
    "gallery:rmat:19:20",
    "gallery:rmat:21:29",
    "gallery:road:1180",
    "gallery:road:2900",
    "gallery:stokes2d:750",
    "gallery:stokes2d:1830",
    "gallery:web:690000",
    "gallery:web:4130000",
};

} // namespace krylith::bench

Reals without a point, and exponents without a letter                   points  
             3             1             1             1
RUA                          2             2             4             0
(4I3)           (6I2)           (4F8.3)             
  1  3  5
 1 2 1 2
    1500    -2.5 1.5+100   1.5-2
